#!/usr/bin/env python3
"""Prints the images/s of torch's DataLoader with 2 workers: the median of three runs.

    loader_peer.py photographs FOLDER    files, RandomResizedCrop(224), flip
    loader_peer.py cifar|mnist IGNORED   pixels held in memory, as in torchvision

Batches are 8-bit tensors, as Feedrate gives them: no normalisation on the CPU.
"""
import json
import pathlib
import statistics
import sys
import time

import numpy as np
from PIL import Image
from torch.utils.data import DataLoader, Dataset, RandomSampler
from torchvision import transforms
from torchvision.datasets.folder import default_loader

ROUNDS = 3
WARM_UP = 5  # batches
SECONDS = 4.0


class Files(Dataset):
    """ImageFolder that allows empty classes: a sample of ImageNet has few of the thousand."""

    def __init__(self, folder, transform):
        self.files = sorted(pathlib.Path(folder).glob("*/*"))
        self.transform = transform

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return self.transform(default_loader(self.files[index])), index


class InMemory(Dataset):
    """Like torchvision's CIFAR10 and MNIST: an array, and a PIL image for each sample read."""

    def __init__(self, shape, transform):
        self.pixels = np.random.default_rng(1).integers(0, 256, (50000, *shape), dtype=np.uint8)
        self.transform = transform

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, index):
        return self.transform(Image.fromarray(self.pixels[index])), index % 10


def dataset(kind, path):
    tensor = transforms.PILToTensor()
    flip = transforms.RandomHorizontalFlip()
    if kind == "photographs":
        crop = transforms.RandomResizedCrop(224)
        return Files(path, transforms.Compose([crop, flip, tensor])), 128
    if kind == "cifar":
        crop = transforms.RandomCrop(32, padding=4)
        return InMemory((32, 32, 3), transforms.Compose([crop, flip, tensor])), 128
    return InMemory((28, 28), tensor), 64


def rate(data, batch):
    """Images/s of one run. Draws with replacement, so that a few hundred images never run out."""
    loader = DataLoader(data, batch, sampler=RandomSampler(data, True, 10_000_000), num_workers=2)
    batches = iter(loader)
    for _ in range(WARM_UP):
        next(batches)
    start, images = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        images += len(next(batches)[1])
    return images / (time.perf_counter() - start)


def main():
    kind, path = sys.argv[1:]
    data, batch = dataset(kind, path)
    print(json.dumps(round(statistics.median(rate(data, batch) for _ in range(ROUNDS)))))


if __name__ == "__main__":
    main()
