"""Datasets of ours for what takes PyTorch's: its own DataLoader, timm's create_loader."""

from __future__ import annotations

import os
from typing import Any, Callable, Generic, TypeVar, overload

import torch
import torch.utils.data
from torch.utils.dlpack import from_dlpack

from feedrate import _data

T = TypeVar("T")


class Dataset(torch.utils.data.Dataset[tuple[T, int]], Generic[T]):
    """A dataset of `feedrate.open` as those of torchvision are: yields (image, class).

    For code that cannot do without `torch.utils.data.DataLoader`, whose workers then decode. Images are
    u8 tensors, channels x height x width; with a `transform`, what it makes of them as PIL images, as
    torchvision's datasets give them to theirs, and timm's `create_loader` sets it. Processes that are
    forked may read it; a pickle is its path."""

    @overload
    def __init__(
        self: Dataset[torch.Tensor],
        dataset: _data.Dataset | str | os.PathLike[str],
        transform: None = None,
        target_transform: Callable[[int], Any] | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        dataset: _data.Dataset | str | os.PathLike[str],
        transform: Callable[[Any], T],
        target_transform: Callable[[int], Any] | None = None,
    ) -> None: ...
    def __init__(
        self,
        dataset: _data.Dataset | str | os.PathLike[str],
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[int], Any] | None = None,
    ) -> None:
        self.data = _data.opened(dataset)
        """The dataset."""
        self.transform = transform
        self.target_transform = target_transform

    @property
    def classes(self) -> list[str]:
        return self.data.classes

    @property
    def class_to_idx(self) -> dict[str, int]:
        return self.data.class_to_idx

    @property
    def targets(self) -> list[int]:
        return self.data.targets

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> tuple[T, int]:
        sample = self.data[index]
        image: Any
        if self.transform is None:
            image = from_dlpack(sample.image).permute(2, 0, 1)
        else:
            image = self.transform(_pillow(sample.image))
        label: Any = sample.label if self.target_transform is None else self.target_transform(sample.label)
        return image, label

    def __repr__(self) -> str:
        return f"feedrate.torch.Dataset({self.data!r})"


def _pillow(image: _data.Array[_data.Array[_data.Array[int]]]) -> Any:
    from PIL import Image

    height, width, channels = image.shape
    mode = "RGB" if channels == 3 else "L"
    return Image.frombuffer(mode, (width, height), image.tobytes(), "raw", mode, 0, 1)
