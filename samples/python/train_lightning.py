#!/usr/bin/env python3
"""Trains a network on ImageNet in Lightning: a LightningDataModule fed by our loader.

    feedrate convert imagenet ILSVRC2012_img_train.tar --to folder --out imagenet/train    # val likewise
    samples/python/train_lightning.py imagenet --arch resnet50

Lightning keeps the loader's state in its checkpoints, and each of its ranks loads a share of its own.
Prints, at the end, images/s of the median epoch. samples/README.md shows what PyTorch's own loader needs
in place of ours.
"""

import argparse
import statistics
import time

import lightning
import torch
from torch import nn
from torchvision import models

import feedrate

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


class ImageNet(lightning.LightningDataModule):
    def __init__(self, data, batch_size, workers):
        super().__init__()
        self.data = data
        self.common = {"batch_size": batch_size, "num_workers": workers, "pixels": "f32"}
        self.common |= {"mean": [255 * one for one in MEAN], "std": [255 * one for one in STD]}

    def train_dataloader(self):
        return feedrate.torch.DataLoader(f"{self.data}/train", "imagenet-train", drop_last=True, **self.common)

    def val_dataloader(self):
        return feedrate.torch.DataLoader(f"{self.data}/val", "imagenet-eval", **self.common)


class Classifier(lightning.LightningModule):
    def __init__(self, arch, lr):
        super().__init__()
        self.model, self.lr = models.get_model(arch), lr

    def training_step(self, batch, _):
        images, target = batch
        return nn.functional.cross_entropy(self.model(images), target)

    def validation_step(self, batch, _):
        images, target = batch
        right = (self.model(images).argmax(1) == target).float().mean()
        self.log("accuracy", right, batch_size=len(images), sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), self.lr, momentum=0.9, weight_decay=1e-4)


class Rate(lightning.Callback):
    """Images/s of each epoch, of this process."""

    def __init__(self):
        self.epochs = []

    def on_train_epoch_start(self, *_):
        self.images, self.start = 0, time.perf_counter()

    def on_train_batch_end(self, trainer, module, outputs, batch, _):
        self.images, self.end = self.images + len(batch[0]), time.perf_counter()

    def on_train_epoch_end(self, *_):  # behind validation
        self.epochs.append(self.images / (self.end - self.start))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", help="the directory that holds train and val, each one directory a class")
    parser.add_argument("--arch", default="resnet18", help="a network of torchvision")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--lr", type=float, default=0.1)
    options = parser.parse_args()

    rate = Rate()
    trainer = lightning.Trainer(max_epochs=options.epochs, callbacks=[rate])
    trainer.fit(Classifier(options.arch, options.lr), ImageNet(options.data, options.batch_size, options.workers))
    if trainer.is_global_zero:
        print(f"accuracy: {trainer.callback_metrics['accuracy']:.2%}")
        print(f"images/s: {trainer.world_size * statistics.median(rate.epochs):.1f}")


if __name__ == "__main__":
    main()
