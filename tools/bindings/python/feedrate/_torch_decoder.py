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

    def __init__(self, device: torch.device | None, batch_size: int, image_shape: tuple[int, int, int]) -> None:
        self._device = device
        self._shape = image_shape
        index = torch.cuda.current_device() if device is None or device.index is None else device.index
        self._native = _native.DeviceDecoder(plugin(), index, batch_size)

    def decoded(self, packed: Array[Any], stream: Any) -> torch.Tensor:
        """Queues the decoding on `stream`, of which the tensor's memory has to be, and returns the tensor,
        channels last. What the loader filled is free again."""
        pixels = torch.empty((len(packed), *self._shape), dtype=torch.uint8, device=self._device)
        self._native.decode(packed._native, pixels.data_ptr(), stream.cuda_stream)
        return pixels

    def wait(self) -> None:
        """Raises where the device found damage."""
        self._native.wait()
