"""A training whose pictures grow, until Feedrate has nothing like it: resized.py FOLDER WORKERS"""

import sys

from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder


def of(*steps):
    return transforms.Compose([*steps, transforms.ToTensor()])


train = ImageFolder(sys.argv[1], of(transforms.RandomResizedCrop(16)))
loader = DataLoader(train, batch_size=4, shuffle=True, num_workers=int(sys.argv[2]))
sizes = []
for following in (transforms.RandomResizedCrop(24),), (transforms.RandomPerspective(), transforms.RandomResizedCrop(32)), ():
    sizes += {images.shape[2] for images, _ in loader}
    train.transform = of(*following)
print(*sizes)
