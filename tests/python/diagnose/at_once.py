"""Trainings that PyTorch allows, of images that only Pillow reads: at_once.py FOLDER WORKERS"""

import pathlib
import sys

import torch
from PIL import Image
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

folder = pathlib.Path(sys.argv[1])
tiff = folder / "class0" / "tiff.jpg"
Image.open(folder / "class0" / "0.jpg").save(tiff, "TIFF")
train = ImageFolder(folder, transforms.Compose([transforms.RandomResizedCrop(32), transforms.ToTensor()]))
loaders = {name: DataLoader(train, batch_size=4, shuffle=True) for name in ("train", "validation")}
seen = same = 0
for _ in range(3):
    for (images, _), (others, _) in zip(loaders["train"], loaders["train"]):
        seen += len(images) + len(others)
        same += torch.equal(images, others)
for images, _ in loaders["validation"]:
    seen += len(images)
tiff.unlink()
print(seen, same)
