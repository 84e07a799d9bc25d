#!/usr/bin/env python3
"""Trains a network on ImageNet in PyTorch, as the imagenet example of pytorch/examples does.

    feedrate convert imagenet ILSVRC2012_img_train.tar --to folder --out imagenet/train    # val likewise
    samples/python/train_imagenet.py imagenet --arch resnet50

Prints a line an epoch and, at the end, images/s of the median epoch. samples/README.md shows what
PyTorch's own loader needs in place of ours.
"""

import argparse
import statistics
import time

import torch
from torch import nn
from torchvision import models

import feedrate

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def loaders(options):
    common = {"batch_size": options.batch_size, "num_workers": options.workers, "pin_memory": options.device == "cuda"}
    common |= {"pixels": "f32", "mean": [255 * one for one in MEAN], "std": [255 * one for one in STD]}
    train_loader = feedrate.torch.DataLoader(f"{options.data}/train", "imagenet-train", drop_last=True, **common)
    val_loader = feedrate.torch.DataLoader(f"{options.data}/val", "imagenet-eval", **common)
    return train_loader, val_loader


def train(loader, model, criterion, optimizer, options):
    """One epoch. Returns its images/s and the loss of its last step."""
    model.train()
    images_seen, start = 0, time.perf_counter()
    for images, target in loader:
        images = images.to(options.device, non_blocking=True)
        target = target.to(options.device, non_blocking=True)
        loss = criterion(model(images), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        images_seen += len(images)
    loss = loss.item()  # waits for a GPU
    return images_seen / (time.perf_counter() - start), loss


@torch.inference_mode()
def validate(loader, model, options):
    """The share of images whose class the network names."""
    model.eval()
    right = total = 0
    for images, target in loader:
        images, target = images.to(options.device), target.to(options.device)
        right += (model(images).argmax(1) == target).sum().item()
        total += len(target)
    return right / total


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", help="the directory that holds train and val, each one directory a class")
    parser.add_argument("--arch", default="resnet18", help="a network of torchvision")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--lr", type=float, default=0.1)
    options = parser.parse_args()
    options.device = "cuda" if torch.cuda.is_available() else "cpu"

    train_loader, val_loader = loaders(options)
    model = models.get_model(options.arch).to(options.device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), options.lr, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.1)
    rates = []
    for epoch in range(options.epochs):
        rate, loss = train(train_loader, model, criterion, optimizer, options)
        rates.append(rate)
        schedule.step()
        print(f"epoch {epoch}: loss {loss:.3f}, accuracy {validate(val_loader, model, options):.2%}", flush=True)
    print(f"images/s: {statistics.median(rates):.1f}")


if __name__ == "__main__":
    main()
