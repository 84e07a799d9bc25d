"""Feedrate's loader for PyTorch: `feedrate.torch.DataLoader`."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Literal, NamedTuple

import torch

from feedrate import _native
from feedrate._data import Batch, Dataset
from feedrate._loader import Loader
from feedrate._settings import OF_RUNS, SETTINGS, takes_settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from feedrate._keywords import EpochKeywords

__all__ = ["DataLoader"]


class _Host(NamedTuple):
    """A batch in the memory that the loader filled."""

    images: torch.Tensor
    labels: torch.Tensor  # of classes, or their shares
    state: dict[str, int]  # behind it
    last_of_epoch: bool


class DataLoader:
    """Yields (images, labels) of one epoch, as `torch.utils.data.DataLoader` does.

    Images are count x channels x height x width: u8 in channels_last memory, which convolutions on a
    GPU prefer, or with pixels="f32" or "f16" (pixel - mean) / deviation, contiguous. layout="nchw"
    makes them contiguous, "nhwc" channels_last. Labels are
    int64; where the recipe has mixup or cutmix they are float32, count x classes, the share of each
    class, which `cross_entropy` takes as well. Nothing is copied on the way: the tensors are the memory that the loader filled, page-locked
    where PyTorch has a GPU. With a `device` of CUDA the tensors are on it; batches are copied ahead
    on a stream of their own.

    Each iteration is an epoch, in an order and with random draws of its own. When it was broken off,
    the next one is the next epoch, from its start; its threads end at once. `load_state_dict` makes
    the next iteration the rest of the epoch that was saved. After a whole epoch the threads prepare
    the next one, until `close`. Any Trainer that takes an iterable with a length takes this one. One
    thread.

    Raises what `feedrate.Loader` raises, and RuntimeError from an iteration under which the ranks of
    torch.distributed change.
    """

    @takes_settings(without=OF_RUNS)
    def __init__(
        self,
        dataset: Dataset | str | os.PathLike[str],
        recipe: str = SETTINGS["recipe"]["default"],
        *,
        batch_size: int = SETTINGS["batch"]["default"],
        device: torch.device | str | None = None,
        pin_memory: bool | None = None,
        drop_last: bool = False,
        rank: int | None = None,
        ranks: int | None = None,
        order: Iterable[int] | None = None,
        weights: Iterable[float] | Literal["balanced"] | None = None,
        groups: tuple[int, int] | None = None,
        draws: int | None = None,
        transform: Callable[[torch.Tensor, torch.Tensor], Any] | None = None,
        **settings: Unpack[EpochKeywords],
    ) -> None:
        """
        Args:
            dataset: a dataset of `feedrate.open`, or the path of one.
            recipe: what part of an image goes into a batch; `feedrate.recipes()` lists them.
            batch_size: images in a batch of this rank.
            device: where the tensors shall be; None: in the memory that the loader filled.
            pin_memory: page-lock that memory where PyTorch has a GPU; True warns where it has none.
            drop_last: leave out images that do not fill a batch, as last="drop" does.
            rank, ranks: this process's share of each epoch; None: torch.distributed's, which is asked
                by `len` and whenever an iteration starts.
            order, weights, groups, draws: what an epoch holds; see `feedrate.Loader`.
            transform: called with images and labels; what it returns is yielded.

        Settings that the shell and C have, too:
        """
        if not settings.keys().isdisjoint(("batch", "epochs")) or ("last" in settings and drop_last):
            raise ValueError("epochs, batch and last: each iteration is an epoch; see batch_size, drop_last")
        if (rank is None) != (ranks is None):
            raise ValueError("rank and ranks go together")
        _native.expect("batch", batch_size, "batch_size")
        if drop_last:
            settings["last"] = "drop"
        self._asks = rank is None  # for its share
        self._share = _share() if rank is None or ranks is None else (rank, ranks)
        self._loader = Loader(
            dataset,
            recipe,
            batch=batch_size,
            epochs=None,
            rank=self._share[0],
            ranks=self._share[1],
            order=order,
            weights=weights,
            groups=groups,
            draws=draws,
            **settings,
        )
        self._classes = self._soft_classes()
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.device = torch.device(device) if device is not None else None
        self._transform = transform
        self._pins = pin_memory is not False and torch.cuda.is_available()
        if pin_memory and not self._pins:
            warnings.warn("pin_memory=True, but PyTorch finds no GPU: memory is not page-locked", stacklevel=2)
        self._live: Iterator[Batch] | None = None  # at the start of the next epoch
        self._state = self._loader.state_dict()  # behind the last batch handed out
        self._resumes = False  # the next iteration starts there, in the middle of an epoch or not

    @property
    def dataset(self) -> Dataset:
        """The dataset, whole: an epoch of `order`, `weights`, `groups` or `draws` may hold another
        number of samples."""
        return self._loader.dataset

    @property
    def sampler(self) -> Any:
        """There is none. What would skip batches by it, to resume in the middle of an epoch, is told
        how to do so here."""
        raise AttributeError(
            "feedrate.torch.DataLoader has no sampler to skip batches by: to resume in the middle of an "
            "epoch, give load_state_dict the state_dict of then; Hugging Face's Trainer also needs "
            "ignore_data_skip=True"
        )

    def __len__(self) -> int:
        """Batches of this rank in an epoch."""
        self._take_share()
        return self._loader.batches_per_epoch

    def __iter__(self) -> Iterator[Any]:
        batches = self._start()
        hosts = self._hosts(batches)
        cuda = self.device is not None and self.device.type == "cuda"
        for images, labels, state, last_of_epoch in self._on_gpu(hosts) if cuda else hosts:
            self._state = state
            if last_of_epoch:
                self._live = batches
            if self.device is not None and not cuda:
                images, labels = images.to(self.device), labels.to(self.device)
            held = [(images, labels) if self._transform is None else self._transform(images, labels)]
            del images, labels  # the caller alone holds a batch while the next one is awaited
            yield held.pop()

    def set_epoch(self, epoch: int) -> None:
        """Makes the next iteration that epoch, from 0; one to be resumed there stays as it is."""
        if epoch != self._state["epoch"] or not self._resumes:
            self._go_to({**self._state, "epoch": epoch, "position": 0})

    def state_dict(self) -> dict[str, int]:
        """Where the run stands, behind the last batch handed out: three integers."""
        return dict(self._state)

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Makes the next iteration the rest of the epoch in which `state` was taken.

        It may come from another number of threads, ranks and images a batch."""
        self._go_to(state)

    def close(self) -> None:
        """Ends the threads. The next iteration starts them again."""
        self._live = None
        self._loader.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_live": None}  # threads are not pickled

    def _soft_classes(self) -> int:
        if not self._loader._settings.mixes:
            return 0
        classes: int = self.dataset.info["classes"]
        if classes == 0:
            raise ValueError("mixup and cutmix need a dataset that states how many classes it has")
        return classes

    def _go_to(self, state: dict[str, int]) -> None:
        if self._live is not None and state == self._loader.state_dict():
            self._resumes = True
            return
        self._live = None
        self._loader.load_state_dict(state)
        self._state = self._loader.state_dict()
        self._resumes = True

    def _take_share(self) -> None:
        """Makes the share this process's, which has changed if torch.distributed has been set up
        since. An iteration that is under way stays as it is, and raises."""
        share = _share() if self._asks else self._share
        if share != self._share:
            self._loader._share(*share)
            self._share = share
            self._live = None

    def _start(self) -> Iterator[Batch]:
        self._take_share()
        if not self._resumes and self._state["position"] != 0:  # the last one was broken off
            self._go_to({**self._state, "epoch": self._state["epoch"] + 1, "position": 0})
        self._resumes = False
        live, self._live = self._live, None
        self._loader._pin = (_pin, _unpin) if self._pins else None
        return live if live is not None else iter(self._loader)

    def _hosts(self, batches: Iterator[Batch]) -> Iterator[_Host]:
        began = self._share
        for batch in batches:
            now = _share() if self._asks else began
            if now != began:
                raise RuntimeError(
                    f"rank {began[0]} of {began[1]} began this iteration, and is rank {now[0]} of "
                    f"{now[1]} by now: set torch.distributed up before an epoch, or between two"
                )
            images = torch.from_dlpack(batch.images)
            labels = torch.from_dlpack(batch.labels)
            if self._classes:
                labels = _shares(labels, batch.lam, self._classes)
            last = batch.last_of_epoch
            held = [
                _Host(
                    images if self._loader._planar else images.permute(0, 3, 1, 2),
                    labels,
                    self._loader.state_dict(),
                    last,
                )
            ]
            del batch, images, labels
            yield held.pop()
            if last:
                return

    def _on_gpu(self, hosts: Iterator[_Host]) -> Iterator[_Host]:
        stream = torch.cuda.Stream(self.device)
        copied = None  # the next batch: on the host, on the device, and when it is there
        for host in hosts:
            with torch.cuda.stream(stream):
                images = host.images.to(self.device, non_blocking=True)
                labels = host.labels.to(self.device, non_blocking=True)
                there = stream.record_event()
            if copied is not None:
                yield self._handed_out(*copied)
                copied[2].synchronize()  # before the loader may fill that memory again
            copied = host, host._replace(images=images, labels=labels), there
            del host, images, labels
        if copied is not None:
            yield self._handed_out(*copied)
            copied[2].synchronize()

    def _handed_out(self, _: _Host, batch: _Host, there: torch.cuda.Event) -> _Host:
        stream = torch.cuda.current_stream(self.device)
        stream.wait_event(there)
        # Its memory belongs to the other stream, which must not use it again too early.
        batch.images.record_stream(stream)
        batch.labels.record_stream(stream)
        return batch


def _shares(labels: torch.Tensor, lam: float, classes: int) -> torch.Tensor:
    own = torch.nn.functional.one_hot(labels, classes).float()
    return own if lam == 1.0 else own.roll(1, 0).mul_(1.0 - lam).add_(own.mul(lam))


def _share() -> tuple[int, int]:
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return 0, 1


def _pin(address: int, size: int) -> None:
    result = torch.cuda.cudart().cudaHostRegister(address, size, 0)
    if int(result) != 0:
        raise RuntimeError(f"cudaHostRegister failed: {result}")


def _unpin(address: int) -> None:
    torch.cuda.cudart().cudaHostUnregister(address)
