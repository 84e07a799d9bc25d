from __future__ import annotations

import atexit
import operator
import os
import threading
import time
import weakref
from typing import Any, Callable, Iterable, Iterator, Literal, Sequence

from feedrate import _native
from feedrate._data import Array, Batch, Dataset, open

_DTYPES = {"u8": "uint8", "f32": "float32", "f16": "float16"}

# Threads must not outlive the interpreter. Weak: dropping an iterator ends its threads at once. A set
# itself, which threads may change while it is listed, as a WeakSet may not.
_running: set[weakref.ref[_native.Run]] = set()
_ending = False


@atexit.register
def _close_all() -> None:
    global _ending
    _ending = True  # before the list: a run is either in it or closed by its maker
    for reference in list(_running):
        run = reference()
        if run is not None:
            run.close()  # whoever waits for a batch finds that there are no more
    _native.leave_python(threading.active_count() > 1)


os.register_at_fork(after_in_child=_native.forget_others)


class Loader:
    """Reads, decodes and augments images in parallel, into batches of ready memory.

    The order of an epoch and every random draw are pure functions of (seed, epoch, index): the
    batches are the same bytes at any number of threads.

    Iterating starts the threads; dropping the iterator, an exception in the loop or the last batch
    ends them. Ctrl-C interrupts the wait for a batch. The next iteration goes on behind the last
    batch handed out, and one iteration at a time is alive: a new one ends the one before. After a
    fork, the child needs a loader of its own.

    Any Python thread may call anything at any time, with or without a GIL; others run while one waits.
    Threads that share an iterator share its batches: each batch goes to one of them, and an exception
    ends the iteration for all.

    Raises ValueError for options that make no sense or do not suit the dataset, and from the
    iterator DataError for a sample that is damaged.
    """

    def __init__(
        self,
        dataset: Dataset | str | os.PathLike[str],
        recipe: str = "none",
        *,
        batch: int = 64,
        threads: int | Literal["auto"] = "auto",
        seed: int = 1,
        epochs: int | None = 1,
        rank: int = 0,
        ranks: int = 1,
        shuffle: bool | None = None,
        window: int = 0,
        order: Iterable[int] | None = None,
        weights: Iterable[float] | Literal["balanced"] | None = None,
        groups: tuple[int, int] | None = None,
        draws: int | None = None,
        last: Literal["partial", "drop", "wrap"] = "partial",
        pixels: Literal["u8", "f32", "f16"] = "u8",
        layout: Literal["nhwc", "nchw"] | None = None,
        mean: float | Sequence[float] = (),
        deviation: float | Sequence[float] = (),
        on_bad: Literal["fail", "replace", "skip"] = "fail",
        bad_budget: int = 100,
        io_threads: int = 1,
        decode: Literal["full", "scaled"] = "full",
        transform: Callable[[Batch], Any] | None = None,
    ) -> None:
        """
        Args:
            dataset: a dataset, or the path of one.
            recipe: what part of an image goes into a batch; `feedrate.recipes()` lists them,
                `feedrate.recipe` changes their numbers, and `|` adds parts; see `feedrate.Recipe`.
            batch: images in a batch of this rank.
            threads: that decode; 0: the calling thread does; "auto": the best number up to one for
                each usable core, less one for the caller.
            epochs: of the whole run, those before a resumed state included; None: without end.
            rank, ranks: this process takes its share of each epoch. Batch k of all ranks together is
                batch k of one loader with ranks x batch images.
            shuffle: change the order in every epoch; None: yes, unless `order`, `weights` or
                `groups` is given.
            window: shuffle among this many neighbours, for media that read best in order; 0: among
                all.
            order: indices of the samples that an epoch holds, in that order; some may be missing and
                some come several times, each time with random draws of its own. 8 bytes each.
            weights: one for each sample, 0 or more. An epoch then holds as many samples as the
                dataset, drawn with replacement, each with the probability of its weight's share;
                "balanced": every class is drawn as often as any other. 16 bytes a sample.
            groups: (P, K): P different classes follow one another, with K different samples of each
                (repeated where a class has fewer); `batch` is a multiple of P x K. All classes come
                before one comes again, and so do the samples of a class. 8 bytes a sample.
            draws: samples in an epoch of `weights` or of a mix; None: as many as the dataset has.
            last: what becomes of images that do not fill a batch: a smaller one, none, or one
                completed with the epoch's first images.
            pixels: what batches hold; see `Batch.images`.
            layout: channels last or first; None: last for u8, first for f32 and f16. The threads that
                decode convert.
            mean, deviation: of pixels 0 ... 255, one number or one for each channel, for f32 and f16:
                the bits of torchvision's normalize.
            on_bad: fail at a damaged sample, replace it by another one, or leave it out.
            bad_budget: damaged samples to accept before failing anyway.
            io_threads: that ask the disk for samples ahead of the others.
            decode: "scaled": JPEGs at 1/2, 1/4 or 1/8 of their size where the recipe shrinks them
                that much: faster, with slightly other pixels. `stats` counts them.
            transform: called with each batch, in the iterating thread; what it returns is yielded.
                `stats` has the time that it took.
        """
        self.dataset = dataset if isinstance(dataset, Dataset) else open(dataset)
        if epochs is not None and epochs < 1:
            raise ValueError(f"epochs: expected 1 or more, or None for a run without end; found {epochs}")
        picks = _picks(self.dataset, order, weights, groups, draws, shuffle)
        if shuffle is None:
            shuffle = picks is None or picks.needs_shuffle
        self._settings = _native.Settings(
            self.dataset._native,
            picks=picks,
            recipe=recipe,
            batch=_whole("batch", batch, 1, 2**31 - 1),
            threads=None if threads == "auto" else _whole("threads", threads, 0, 256),
            seed=_whole("seed", seed, 0, 2**64 - 1),
            rank=_whole("rank", rank, 0, 65535),
            ranks=_whole("ranks", ranks, 1, 65536),
            shuffle=shuffle,
            window=_whole("window", window, 0, 2**64 - 1),
            last=last,
            pixels=pixels,
            layout=layout,
            mean=_numbers(mean),
            deviation=_numbers(deviation),
            on_bad=on_bad,
            bad_budget=_whole("bad_budget", bad_budget, 0, 2**64 - 1),
            io_threads=_whole("io_threads", io_threads, 0, 64),
            decode=decode,
        )
        self._dtype = _DTYPES[pixels]
        self._planar = self._settings.planar
        self._progress = _native.Progress(seed)
        self._epochs = epochs
        self._run: weakref.ref[_native.Run] | None = None
        self._transform = transform
        self._pin: tuple[Callable[[int, int], None], Callable[[int], None]] | None = None

    @property
    def batches_per_epoch(self) -> int:
        """Batches of this rank in a whole epoch."""
        return self._settings.batches_per_epoch

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Height, width, channels of every image in a batch."""
        height, width, channels = self._settings.image_shape
        return height, width, channels

    def __len__(self) -> int:
        """Batches of the whole run, from its start. Raises TypeError for a run without end."""
        if self._epochs is None:
            raise TypeError("a run without end has no length; see batches_per_epoch")
        return self._epochs * self.batches_per_epoch

    def __iter__(self) -> Iterator[Any]:
        """Starts the threads, behind the last batch handed out. Yields `Batch`, or what `transform` makes
        of it."""
        self.close()
        pin, unpin = self._pin or (None, None)
        run = _native.Run(self._settings, self._progress, self._epochs or 0, pin, unpin)
        _running.add(weakref.ref(run, _running.discard))
        self._run = weakref.ref(run)
        if _ending:
            run.close()
        return _Iteration(self, run)

    def _batch(
        self,
        images: Any,
        labels: Any,
        indices: Any,
        number: int,
        epoch: int,
        last_of_epoch: bool,
        lam: float,
    ) -> Batch:
        count = memoryview(labels).shape
        height, width, channels = self.image_shape
        sides = (channels, height, width) if self._planar else (height, width, channels)
        return Batch(
            Array(images, count + sides, self._dtype),
            Array(labels, count, "int64"),
            Array(indices, count, "int64"),
            number,
            epoch,
            last_of_epoch,
            lam,
        )

    def _alive(self) -> _native.Run | None:
        reference = self._run
        return reference() if reference is not None else None

    def close(self) -> None:
        """Ends the threads now. Batches stay valid; iterating starts threads again."""
        self._progress.end_turn()
        run = self._alive()
        if run is not None:
            run.close()
        self._run = None

    def state_dict(self) -> dict[str, int]:
        """Where the run stands, behind the last batch handed out: three integers.

        `load_state_dict` of a loader of the same dataset and recipe takes it, at any number of
        threads, ranks and images a batch."""
        return dict(zip(("seed", "epoch", "position"), self._progress.state))

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Goes on where `state` was taken, from the next iteration. Ends the current one.

        Raises ValueError where it cannot be a state of this dataset."""
        try:
            seed, epoch, position = (state[key] for key in ("seed", "epoch", "position"))
        except KeyError as error:
            raise ValueError(f"the state has no {error}; expected seed, epoch and position") from None
        _whole("seed", seed, 0, 2**64 - 1)
        _whole("epoch", epoch, 0, 2**63)
        _whole("position", position, 0, self._settings.epoch_size)
        self.close()
        self._progress.go_to(seed, epoch, position)

    def stats(self) -> dict[str, float]:
        """Sums of the iteration that is alive; empty without one: images, batches, bytes_read
        (encoded), wait_seconds (of the caller, for batches), busy_read_seconds, busy_decode_seconds
        and busy_augment_seconds (over all threads), bad_seats (replaced or skipped), shrunk_images
        (decoded at a half of their size or less), threads (now) and transform_seconds (of the caller,
        in `transform`)."""
        run = self._alive()
        return run.stats() if run is not None else {}

    def __repr__(self) -> str:
        return f"feedrate.Loader({self.dataset.info['path']!r}: {self.state_dict()})"


class _Iteration:
    """Hands out the batches of a run, each to one of the threads that ask. Unlike a generator, any
    number of threads may ask at the same time."""

    __slots__ = ("_loader", "_run")

    def __init__(self, loader: Loader, run: _native.Run) -> None:
        self._loader = loader
        self._run: _native.Run | None = run

    def __iter__(self) -> _Iteration:
        return self

    def __next__(self) -> Any:
        run = self._run
        if run is None:
            raise StopIteration
        try:
            given = run.next()
            if given is None:
                raise StopIteration
            batch = self._loader._batch(*given)
            transform = self._loader._transform
            return batch if transform is None else _timed(run, transform, batch)
        except BaseException:
            self._run = None  # ends the threads
            raise


def _timed(run: _native.Run, transform: Callable[[Batch], Any], batch: Batch) -> Any:
    start = time.perf_counter()
    try:
        return transform(batch)
    finally:
        run.add_transform(time.perf_counter() - start)


def _whole(name: str, value: int, low: int, high: int) -> int:
    if not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{name}: expected a whole number from {low} to {high}, found {value!r}")
    return value


def _picks(
    dataset: Dataset,
    order: Iterable[int] | None,
    weights: Iterable[float] | str | None,
    groups: tuple[int, int] | None,
    draws: int | None,
    shuffle: bool | None,
) -> _native.Picks | None:
    given = [
        name
        for name, value in (("order", order), ("weights", weights), ("groups", groups))
        if value is not None
    ]
    if len(given) > 1:
        raise ValueError(f"{given[0]} and {given[1]} exclude each other")
    mixes = dataset._native.is_mix and not given
    if draws is not None and weights is None and not mixes:
        raise ValueError("draws: needs weights or a mix of datasets")
    count = 0 if draws is None else _whole("draws", draws, 1, 2**63)
    if order is not None:
        return _native.listed(dataset._native, _indices(order, len(dataset)))
    if groups is not None:
        classes, each = (_whole("groups", number, 1, 2**31 - 1) for number in groups)
        return _native.grouped(dataset._native, classes, each)
    if weights is not None:
        return _native.weighted(dataset._native, _weights(weights), count)
    return _native.mixed(dataset._native, count, shuffle is not False) if mixes else None


def _indices(order: Iterable[int], samples: int) -> list[int]:
    indices = [operator.index(index) for index in order]
    for place, index in enumerate(indices):
        if index < 0:
            raise ValueError(
                f"order: index {index} at place {place}: expected 0 to {samples - 1}"
            )
    return indices


def _weights(weights: Iterable[float] | str) -> list[float] | None:
    if isinstance(weights, str):
        if weights != "balanced":
            raise ValueError(f"weights: expected numbers or 'balanced', found {weights!r}")
        return None  # those that balance the classes
    return [float(weight) for weight in weights]


def _numbers(values: float | Sequence[float]) -> list[float]:
    return [float(values)] if isinstance(values, (int, float)) else [float(value) for value in values]
