#!/usr/bin/env python3
"""Trains a small network on CIFAR-10 in PyTorch.

    feedrate convert cifar10 archives/cifar-10-binary.tar.gz --to lmdb --split all --out data/cifar10
    samples/python/train_cifar10.py data/cifar10 --epochs 10

Prints one line an epoch: images/s, the share of the time in which training waited for data, accuracy.
A checkpoint, written after each epoch, holds the loader's state too: --resume goes on there.
"""

import argparse
import os
import time

import torch
from torch import nn

import feedrate
from feedrate.torch import DataLoader

MEAN, DEVIATION = (125.3, 123.0, 113.9), (63.0, 62.1, 66.7)  # of CIFAR-10's pixels


class Network(nn.Sequential):
    """A convolutional network of 0.3 million parameters; takes u8 images as the loader gives them."""

    def __init__(self, classes):
        def block(inputs, outputs):
            convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
            return convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)

        super().__init__(
            *block(3, 32), *block(32, 64), nn.MaxPool2d(2),
            *block(64, 128), nn.MaxPool2d(2), *block(128, 128),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, classes),
        )  # fmt: skip
        self.register_buffer("mean", torch.tensor(MEAN).view(1, 3, 1, 1))
        self.register_buffer("deviation", torch.tensor(DEVIATION).view(1, 3, 1, 1))

    def forward(self, images):
        return super().forward((images.float() - self.mean) / self.deviation)


def train(network, optimizer, schedule, loader):
    """One epoch. Returns its images/s and the share of its time in which it waited for data."""
    network.train()
    images_seen, waited, start = 0, 0.0, time.perf_counter()
    batches = iter(loader)
    while True:
        asked = time.perf_counter()
        batch = next(batches, None)
        waited += time.perf_counter() - asked
        if batch is None:
            break
        images, labels = batch
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(network(images), labels).backward()
        optimizer.step()
        schedule.step()
        images_seen += len(images)
    seconds = time.perf_counter() - start
    return images_seen / seconds, waited / seconds


@torch.inference_mode()
def accuracy(network, loader):
    network.eval()
    right = sum((network(images).argmax(1) == labels).sum().item() for images, labels in loader)
    return right / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", help="the directory that `feedrate convert cifar10` made")
    parser.add_argument("--epochs", type=int, default=10, help="of the whole run, those before --resume too")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--threads", default="auto", help="that load, or auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoint", help="written after each epoch")
    parser.add_argument("--resume", action="store_true", help="go on from --checkpoint")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    threads = options.threads if options.threads == "auto" else int(options.threads)

    common = {"batch_size": options.batch, "device": device, "seed": options.seed, "threads": threads}
    loader = DataLoader(os.path.join(options.data, "train"), "cifar-train", drop_last=True, **common)
    test = DataLoader(os.path.join(options.data, "test"), "cifar-eval", shuffle=False, **common)
    network = Network(classes=10).to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.2, options.epochs * len(loader))
    states = {"network": network, "optimizer": optimizer, "schedule": schedule, "loader": loader}
    if options.resume:
        for name, state in torch.load(options.checkpoint, weights_only=True).items():
            states[name].load_state_dict(state)
    print(f"feedrate {feedrate.__version__}, PyTorch {torch.__version__}, {device}: {loader.dataset!r}")

    while (epoch := loader.state_dict()["epoch"]) < options.epochs:
        rate, waiting = train(**states)
        print(
            f"epoch {epoch}: {rate:,.0f} images/s, {waiting:.1%} of the time waiting for data, "
            f"accuracy {accuracy(network, test):.2%}",
            flush=True,
        )
        if options.checkpoint:
            partial = options.checkpoint + ".partial"
            torch.save({name: one.state_dict() for name, one in states.items()}, partial)
            os.replace(partial, options.checkpoint)


if __name__ == "__main__":
    main()
