#!/usr/bin/env python3
"""Trains a network of timm, in the loop of timm's train.py.

    feedrate convert imagenet ILSVRC2012_img_train.tar --to folder --out imagenet/train    # val likewise
    samples/python/train_timm.py imagenet --model resnet50

Prints a line an epoch and, at the end, images/s of the median epoch. samples/README.md shows what timm's
create_loader needs in place of ours.
"""

import argparse
import statistics
import time

import torch
from timm import create_model
from timm.data import resolve_data_config
from timm.loss import LabelSmoothingCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import create_scheduler_v2
from timm.utils import AverageMeter, accuracy

import feedrate


def loaders(options, config):
    size = config["input_size"][-1]
    common = {"batch_size": options.batch_size, "num_workers": options.workers, "device": options.device}
    common |= {"pixels": "f32"} | {name: [255 * one for one in config[name]] for name in ("mean", "std")}
    crop = feedrate.random_resized_crop(size) | feedrate.flip() | feedrate.color_jitter(0.4, 0.4, 0.4)
    centre = feedrate.resize(int(size / config["crop_pct"])) | feedrate.center_crop(size)
    loader_train = feedrate.torch.DataLoader(f"{options.data}/train", crop, drop_last=True, **common)
    loader_eval = feedrate.torch.DataLoader(f"{options.data}/val", centre, **common)
    return loader_train, loader_eval


def train_one_epoch(epoch, model, loader, optimizer, loss_fn, lr_scheduler):
    """Returns images/s and the mean loss."""
    model.train()
    losses, start = AverageMeter(), time.perf_counter()
    num_updates = epoch * len(loader)
    for input, target in loader:
        loss = loss_fn(model(input), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss.item(), len(input))
        num_updates += 1
        lr_scheduler.step_update(num_updates=num_updates, metric=losses.avg)
    return losses.count / (time.perf_counter() - start), losses.avg


@torch.inference_mode()
def validate(model, loader):
    """The share of images, in percent, whose class the network names."""
    model.eval()
    top1 = AverageMeter()
    for input, target in loader:
        top1.update(accuracy(model(input), target)[0].item(), len(input))
    return top1.avg


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", help="the directory that holds train and val, each one directory a class")
    parser.add_argument("--model", default="resnet50", help="a network of timm")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.05)
    options = parser.parse_args()
    options.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    model = create_model(options.model).to(options.device)
    loader_train, loader_eval = loaders(options, resolve_data_config({}, model=model))
    optimizer = create_optimizer_v2(model, opt="sgd", lr=options.lr, weight_decay=2e-5, momentum=0.9)
    lr_scheduler, epochs = create_scheduler_v2(optimizer, num_epochs=options.epochs)
    loss_fn = LabelSmoothingCrossEntropy(smoothing=0.1)
    rates = []
    for epoch in range(epochs):
        rate, loss = train_one_epoch(epoch, model, loader_train, optimizer, loss_fn, lr_scheduler)
        rates.append(rate)
        top1 = validate(model, loader_eval)
        lr_scheduler.step(epoch + 1, top1)
        print(f"epoch {epoch}: loss {loss:.3f}, accuracy {top1:.2f}%", flush=True)
    print(f"images/s: {statistics.median(rates):.1f}")


if __name__ == "__main__":
    main()
