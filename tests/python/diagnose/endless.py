"""A training whose loader has no end, as timm's MultiEpochsDataLoader: endless.py FOLDER"""

import itertools
import sys

import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler
from torchvision import transforms
from torchvision.datasets import ImageFolder


class Again:
    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        while True:
            yield from self.batches


torch.manual_seed(1)
train = ImageFolder(sys.argv[1], transforms.Compose([transforms.CenterCrop(32), transforms.ToTensor()]))
loader = DataLoader(train, batch_sampler=Again(BatchSampler(RandomSampler(train), 4, True)))
print([labels.tolist() for _, labels in itertools.islice(loader, 10)], float(torch.rand(1)))
