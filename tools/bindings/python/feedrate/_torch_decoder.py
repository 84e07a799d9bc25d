"""Packed JPEGs that a GPU decodes into tensors, by the plug-in of the package feedrate-cuda."""

from __future__ import annotations

import functools
import os
from typing import Any

import torch

from feedrate import _native
from feedrate._data import Array
from feedrate._program import program

_FILE = "libfeedrate_cuda.so"


def places() -> list[str]:
    """Where the plug-in may be: beside the program, as the program has it."""
    directory = os.path.dirname(os.path.realpath(program()))
    return [os.path.join(directory, _FILE), os.path.join(directory, "..", "lib", _FILE), _FILE]


@functools.lru_cache(maxsize=None)
def plugin() -> _native.DevicePlugin:
    """Raises RuntimeError that says what to install."""
    return _native.DevicePlugin("cuda", places())


def expect_decoder(settings: _native.Settings, device: torch.device | None) -> None:
    """Raises ValueError where no device can decode what the settings ask for, and what `plugin` raises."""
    settings.expect_device_decodes()
    if device is None or device.type != "cuda":
        raise ValueError(f"decode='device' needs device='cuda', found {device}")
    plugin()


class Decoder:
    """Decodes the batches of one run, on one GPU. One thread."""

    def __init__(self, device: torch.device | None, batch_size: int, settings: _native.Settings) -> None:
        self._device = device
        self._shape = settings.image_shape
        self._planar = settings.planar
        self._type = {"u8": torch.uint8, "f32": torch.float32, "f16": torch.float16}[settings.pixels]
        # On the device: PyTorch multiplies by 1 / x where x is a number of the processor's, which has other bits.
        self._means = torch.tensor(settings.means, dtype=torch.float32, device=device)
        self._deviations = torch.tensor(settings.deviations, dtype=torch.float32, device=device)
        index = torch.cuda.current_device() if device is None or device.index is None else device.index
        self._native = _native.DeviceDecoder(plugin(), index, batch_size)

    def decoded(self, packed: Array[Any], stream: Any) -> torch.Tensor:
        """Queues the decoding on `stream`, which has to be the current one, and returns a new tensor, in the
        layout and the type of the settings. What the loader filled is free again."""
        pixels = torch.empty((len(packed), *self._shape), dtype=torch.uint8, device=self._device)
        self._native.decode(packed._native, pixels.data_ptr(), stream.cuda_stream)
        if self._type != torch.uint8:  # each step rounds once, as it does on the processor
            pixels = pixels.float().sub_(self._means).div_(self._deviations).to(self._type)
        if not self._planar:
            return pixels
        # A view of one channel counts as contiguous whatever its strides: it gets those of planes, too.
        count, height, width, channels = pixels.shape
        planes = torch.empty((count, channels, height, width), dtype=self._type, device=self._device)
        return planes.copy_(pixels.permute(0, 3, 1, 2))

    def wait(self) -> None:
        """Raises where the device found damage."""
        self._native.wait()
