"""A training whose first loader can be replaced, and whose second one cannot: swapped.py FOLDER WORKERS"""

import sys

import torch
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

torch.manual_seed(1)
last = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])
train = ImageFolder(sys.argv[1], transforms.Compose([transforms.RandomResizedCrop(32), transforms.RandomHorizontalFlip(), last]))
tilted = ImageFolder(sys.argv[1], transforms.Compose([transforms.RandomResizedCrop(32), transforms.RandomPerspective(), last]))
train_loader = DataLoader(train, batch_size=4, shuffle=True, num_workers=int(sys.argv[2]), drop_last=True)
tilted_loader = DataLoader(tilted, batch_size=4)
weights = torch.zeros(3 * 32 * 32, requires_grad=True)
seen = []
for epoch in range(6):
    for images, labels in train_loader:
        loss = ((images.flatten(1) @ weights - labels) ** 2).mean()
        (gradient,) = torch.autograd.grad(loss, weights)
        weights = (weights - 1e-5 * gradient).detach().requires_grad_()
        seen.append(len(labels))
    for images, labels in tilted_loader:
        seen.append(len(labels))
print(len(train_loader), sum(seen), type(train_loader).__name__, float(weights.sum().detach()), float(torch.rand(1)))
