"""An epoch of `feedrate.torch.DataLoader`: tensors of a loader's batches, on their device."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any, Callable, Generic, NamedTuple, TypeVar, cast

import torch
from torch.utils.dlpack import from_dlpack

from feedrate._data import Batch
from feedrate._errors import DataError
from feedrate._given import called
from feedrate._loader import Loader
from feedrate._torch_decoder import Decoder

if TYPE_CHECKING:
    from feedrate.torch import DataLoader

T = TypeVar("T")
_cuda: Any = torch.cuda  # without types in part
State = dict[str, int]
_PROFILED = "enumerate(DataLoader)#feedrate.__next__"  # as profilers look for the time that a loop waits for data


class Streams:
    """The stream that a loader's batches are copied on, for each device: one for all epochs, since
    PyTorch keeps freed memory for the stream that it was allocated on. A pickle holds none."""

    def __init__(self) -> None:
        self._of: dict[int, Any] = {}

    def on(self, device: torch.device | None) -> Any:
        """None where batches stay in the loader's memory, or are copied by the processor."""
        if device is None or device.type != "cuda":
            return None
        index = _cuda.current_device() if device.index is None else device.index
        if index not in self._of:
            self._of[index] = _cuda.Stream(index)
        return self._of[index]

    def __reduce__(self) -> Any:
        return Streams, ()


class Run:
    """The batches of a loader, epoch after epoch."""

    def __init__(self, loader: Loader[Batch], decoder: Decoder | None) -> None:
        self._loader = loader
        self.decoder = decoder  # of batches that are packed
        self.state = loader.state_dict()  # in front of the next batch
        self._until = loader._epochs  # this epoch, of which there is no batch; None: there are always more
        self._batches = iter(loader)
        self._early: Batch | None = None  # of a later epoch than was asked for

    def stands_at(self, state: State) -> bool:
        """Whether the next batch is the one behind that state."""
        return state == self.state and (self._until is None or state["epoch"] < self._until)

    def next_of(self, epoch: int) -> Batch | None:
        """None where nothing of that epoch is left: no whole batch, or bad samples alone."""
        batch = next(self._batches, None) if self._early is None else self._early
        if batch is None or batch.epoch != epoch:
            self._early = batch
            self.state = {**self.state, "epoch": epoch + 1 if batch is None else batch.epoch, "position": 0}
            return None
        self._early = None
        self.state = self._loader.state_dict()
        return batch

    def add_transform(self, seconds: float) -> None:
        alive = self._loader._alive()
        if alive is not None:
            alive.add_transform(seconds)


class _Tensors(NamedTuple):
    images: torch.Tensor
    labels: torch.Tensor  # classes, or shares of them
    indices: torch.Tensor
    state: State  # behind it
    last_of_epoch: bool


class _Copy(NamedTuple):
    host: _Tensors | None  # the memory that the loader filled, as long as it is copied
    device: _Tensors
    there: torch.cuda.Event


class Epoch(Generic[T]):
    """What is left of an epoch. One thread."""

    def __init__(self, loader: DataLoader[T], run: Run, owner: DataLoader[T]) -> None:
        self.loader = loader
        self._owner = owner  # the loader that was iterated; a copy of it loads where it has another iteration
        self._run: Run | None = run
        self._is_handed_out = False  # whole
        self._state = loader._state  # behind its last batch
        self.epoch = loader._state["epoch"]
        self._end = {**self._state, "position": loader._loader._settings.epoch_size}
        self._share = loader._share
        self._over = False  # its last batch was taken
        self._ahead: _Copy | None = None  # the next one
        self._failure: DataError | None = None  # in place of the next one
        # Of the one that was handed out.
        self._copied: tuple[_Tensors | None, torch.cuda.Event] | None = None
        self._stream: Any = loader._streams.on(loader.device)

    def __del__(self) -> None:
        # The memory that is still being copied becomes the loader's, which fills it again.
        copying = [self._copied] if self._copied is not None else []
        copying += [(self._ahead.host, self._ahead.there)] if self._ahead is not None else []
        for host, there in copying:
            if host is not None:
                with contextlib.suppress(Exception):  # whoever uses that device next is told
                    there.synchronize()

    @property
    def goes_on(self) -> bool:
        return self._run is not None and not self._is_handed_out

    def __iter__(self) -> Epoch[T]:
        return self

    def __next__(self) -> T:
        run = self._run
        if run is None:
            raise StopIteration
        loader = self.loader
        try:
            with torch.autograd.profiler.record_function(_PROFILED):
                batch = self._taken(run) if self._stream is None else self._taken_on_gpu(run)
            run = self._run or run
            if batch is None:
                loader._live = run if loader._persists else None
                loader._state = self._owner._state = run.state
                raise StopIteration
            self._is_handed_out = batch.last_of_epoch
            state = batch.state
            if batch.last_of_epoch and loader._persists:
                loader._live = run
            given = self._transformed(run, batch)
            del batch  # the caller alone holds it while the next one is awaited
            # Last of all, and no call: Ctrl-C loses the batch before, when it comes again, or not at all.
            self._state = loader._state = self._owner._state = state
            return given
        except BaseException:
            self._run = None
            raise

    def _taken(self, run: Run) -> _Tensors | None:
        loader = self.loader
        batch = None if self._over else self._next_of(run)
        run = self._run or run  # another where a sample could not be read
        now = loader._share_now()
        if now != self._share:
            raise RuntimeError(
                f"rank {self._share[0]} of {self._share[1]} began this iteration, and is rank {now[0]} of "
                f"{now[1]} by now: set torch.distributed up before an epoch, or between two"
            )
        if batch is None:
            return None
        self._over = batch.last_of_epoch
        labels, indices = from_dlpack(batch.labels), from_dlpack(batch.indices)
        if run.decoder is not None:
            images = run.decoder.decoded(batch.images, self._stream)
        else:
            images = from_dlpack(batch.images)
        if loader._classes:
            labels = _shares(labels, batch.lam, loader._classes)
        if not loader._loader._planar:
            images = images.permute(0, 3, 1, 2)
        # As torchdata's StatefulDataLoader has it, the epoch ends when it is asked for another batch.
        state = self._end if batch.last_of_epoch else run.state
        return _Tensors(images, labels, indices, state, batch.last_of_epoch)

    def _next_of(self, run: Run) -> Batch | None:
        while True:
            try:
                return run.next_of(self.epoch)
            except DataError as error:
                run = self._run = self.loader._run_without(error, self._state)

    def _taken_on_gpu(self, run: Run) -> _Tensors | None:
        if self._copied is not None:
            self._copied[1].synchronize()  # before the loader may fill that memory again
            self._copied = None
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        copy = self._ahead if self._ahead is not None else self._copy(run)
        if copy is None:
            return None
        self._copied, self._ahead = (copy.host, copy.there), None
        try:
            self._ahead = self._copy(run)
        except DataError as error:  # comes behind this batch, as it does without a device
            self._failure = error.with_traceback(None)  # whose frames would keep this one
        stream = torch.cuda.current_stream(self.loader.device)
        stream.wait_event(copy.there)
        for tensor in copy.device[:3]:
            # Its memory belongs to the other stream, which must not use it again too early.
            tensor.record_stream(stream)
        return copy.device

    def _copy(self, run: Run) -> _Copy | None:
        with torch.cuda.stream(self._stream):
            host = self._taken(run)  # decoded images are on the device
            if host is None:
                if run.decoder is not None:
                    run.decoder.wait()  # for its errors
                return None
            try:
                images, labels, indices = (
                    tensor.to(self.loader.device, non_blocking=True) for tensor in host[:3]
                )
                there = self._stream.record_event()
            except BaseException:
                self._stream.synchronize()  # what was queued reads memory that becomes the loader's
                raise
        device = host._replace(images=images, labels=labels, indices=indices)
        return _Copy(host if run.decoder is None else None, device, there)

    def _transformed(self, run: Run, batch: _Tensors) -> T:
        loader = self.loader
        images, labels, indices = batch[:3]
        if loader._sample_transform is not None:
            start = time.perf_counter()
            images = torch.stack(called("sample_transform", _each, loader._sample_transform, images))
            loader._sample_seconds += time.perf_counter() - start
        if loader.device is not None and self._stream is None:
            images, labels, indices = (one.to(loader.device) for one in (images, labels, indices))
        given = (images, labels, indices) if loader._indices else (images, labels)
        if loader._transform is None:
            return cast(T, given)
        start = time.perf_counter()
        try:
            return cast(T, called("transform", loader._transform, *given))
        finally:
            run.add_transform(time.perf_counter() - start)


def soft_classes(loader: Loader[Batch]) -> int:
    """How many classes the labels of mixed images are shares of; 0: its recipe mixes none."""
    if not loader._settings.mixes:
        return 0
    classes: int = loader.dataset.info["classes"]
    if classes == 0:
        raise ValueError("mixup and cutmix need a dataset that states how many classes it has")
    labels: Any = loader._arguments["labels"]
    if labels is not None and loader._label_dtype == "int64":
        numbers = torch.as_tensor(labels)
        outside = numbers[(numbers < 0) | (numbers >= classes)]
        if len(outside) != 0:
            raise ValueError(
                f"labels: mixup and cutmix need rows of shares, or classes below the dataset's {classes}, "
                f"found {int(outside[0])}"
            )
    return classes


def _each(transform: Callable[[torch.Tensor], torch.Tensor], images: torch.Tensor) -> list[torch.Tensor]:
    return [transform(image) for image in images]


def _shares(labels: torch.Tensor, lam: float, classes: int) -> torch.Tensor:
    own = labels if labels.is_floating_point() else torch.nn.functional.one_hot(labels, classes).float()
    return own if lam == 1.0 else own.roll(1, 0).mul_(1.0 - lam).add_(own.mul(lam))


def pin(address: int, size: int) -> None:
    result = _cuda.cudart().cudaHostRegister(address, size, 0)
    if int(result) != 0:
        raise RuntimeError(f"cudaHostRegister failed: {result}")


def unpin(address: int) -> None:
    _cuda.cudart().cudaHostUnregister(address)
