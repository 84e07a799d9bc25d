from __future__ import annotations

import atexit
import collections.abc
import os
import reprlib
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Generic, Iterable, Iterator, Literal, Sequence, TypeVar, overload

from feedrate import _native
from feedrate._data import Array, Batch, Dataset, opened, shape_of
from feedrate._given import called, expect_function, expect_no_names_of_pytorch, kept, labels_of, picks_of, plain
from feedrate._settings import SETTINGS, takes_settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from feedrate._keywords import LoaderKeywords
    from feedrate._loader_keywords import LoaderOptions

T = TypeVar("T")

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


class Loader(Generic[T]):
    """Reads, decodes and augments images in parallel, into batches of ready memory.

    The order of an epoch and every random draw are pure functions of (seed, epoch, index): the
    batches are the same bytes at any number of threads.

    Iterating starts the threads; dropping the iterator, an exception in the loop or the last batch
    ends them. Ctrl-C interrupts the wait for a batch. The next iteration goes on behind the last
    batch handed out: one that Ctrl-C, or an exception in `transform`, kept from a `for` loop comes
    again. One iteration at a time is alive: a new one ends the one before. After a fork, the child
    needs a loader of its own.

    Any Python thread may call anything at any time, with or without a GIL; others run while one waits.
    Threads that share an iterator share its batches: each batch goes to one of them, and an exception
    ends the iteration for all. The state is then behind the batches that were handed out without a
    gap.

    A pickle of a loader is its settings and where it stands.

    Raises ValueError for options that make no sense or do not suit the dataset, and from the
    iterator DataError for a sample that is damaged.
    """

    # Of an epoch that ranks cannot share evenly: some images, or none of the rest. None: some get one more.
    _repeats: ClassVar[bool | None] = None

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: Loader[Batch],
            dataset: Dataset | str | bytes | os.PathLike[str],
            recipe: str = ...,
            *,
            labels: None = None,
            transform: None = None,
            **settings: Unpack[LoaderOptions],
        ) -> None: ...

        @overload
        def __init__(
            self: Loader[Batch[Array[float]]],
            dataset: Dataset | str | bytes | os.PathLike[str],
            recipe: str = ...,
            *,
            labels: Iterable[Sequence[float]] | Literal["lists"],
            transform: None = None,
            **settings: Unpack[LoaderOptions],
        ) -> None: ...

        @overload
        def __init__(
            self: Loader[Batch[float]],
            dataset: Dataset | str | bytes | os.PathLike[str],
            recipe: str = ...,
            *,
            labels: Iterable[float],
            transform: None = None,
            **settings: Unpack[LoaderOptions],
        ) -> None: ...

        @overload
        def __init__(
            self,
            dataset: Dataset | str | bytes | os.PathLike[str],
            recipe: str = ...,
            *,
            labels: Iterable[float] | Iterable[Sequence[float]] | Literal["lists"] | None = None,
            transform: Callable[[Batch[Any]], T],
            **settings: Unpack[LoaderOptions],
        ) -> None: ...

    @takes_settings()
    def __init__(
        self,
        dataset: Dataset | str | bytes | os.PathLike[str],
        recipe: str = SETTINGS["recipe"]["default"],
        *,
        order: Iterable[int] | None = None,
        weights: Iterable[float] | Literal["balanced"] | None = None,
        groups: tuple[int, int] | None = None,
        draws: int | None = None,
        labels: Iterable[float] | Iterable[Sequence[float]] | Literal["lists"] | None = None,
        transform: Callable[[Batch[Any]], T] | None = None,
        **settings: Unpack[LoaderKeywords],
    ) -> None:
        """
        Args:
            dataset: a dataset, or the path of one.
            recipe: what part of an image goes into a batch; `feedrate.recipes()` lists them,
                `feedrate.recipe` changes their numbers, and `|` adds parts; see `feedrate.Recipe`.
            order: indices of the samples that an epoch holds, in that order; some may be missing and
                some come several times, each time with random draws of its own. 8 bytes each.
            weights: one for each sample, 0 or more. An epoch then holds as many samples as the
                dataset, drawn with replacement, each with the probability of its weight's share;
                "balanced": every class is drawn as often as any other. 16 bytes a sample.
            groups: (P, K): P different classes follow one another, with K different samples of each
                (repeated where a class has fewer); `batch` is a multiple of P x K. All classes come
                before one comes again, and so do the samples of a class. 8 bytes a sample.
            draws: samples in an epoch of `weights` or of a mix; None: as many as the dataset has.
            labels: what batches have in place of classes: a number, or a row of numbers of one length, for
                each sample of the dataset, as int64 if all are whole and single, otherwise float32; "lists":
                the lists of labels that the dataset's samples keep. As many bytes as the numbers take.
            transform: called with each batch, in the iterating thread; what it returns is yielded.
                `stats` has the time that it took.

        Settings that the shell and C have, too:
        """
        self.dataset = opened(dataset)
        expect_function("transform", transform)
        expect_no_names_of_pytorch(settings)
        order, weights, labels = kept(order), kept(weights), kept(labels)
        given = {name: kept(value) for name, value in settings.items()}
        self._arguments = {
            "dataset": self.dataset,
            "recipe": recipe,
            "order": order,
            "weights": weights,
            "groups": groups,
            "draws": draws,
            "labels": labels,
            "transform": transform,
            **given,
        }
        shuffle = _native.shuffles(recipe=recipe, **given)
        picks = picks_of(self.dataset, plain(order), plain(weights), groups, draws, shuffle, given.get("on_bad", "fail") != "fail")
        own = labels_of(self.dataset, labels)
        self._settings = _native.Settings(self.dataset._native, picks, own, self._repeats, recipe=recipe, **given)
        self._label_dtype = "int64" if own is None or own.whole else "float32"
        self._dtype = _DTYPES[self._settings.pixels]
        self._planar = self._settings.planar
        self._progress = _native.Progress(self._settings.seed)
        self._epochs = self._settings.epochs
        self._run: weakref.ref[_native.Run] | None = None
        self._transform = transform
        self._pin: tuple[Callable[[int, int], None], Callable[[int], None]] | None = None
        self._memory: _native.Memory | None = None
        self._packed = False  # JPEGs stay so, for a device

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

    def __iter__(self) -> Iterator[T]:
        """Starts the threads, behind the last batch handed out. Yields `Batch`, or what `transform` makes
        of it."""
        self._end()
        if self._memory is None:
            self._memory = _native.Memory(*(self._pin or (None, None)))
        run = _native.Run(self._settings, self._progress, self._memory, self._epochs or 0, self._packed)
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
    ) -> Batch[Any]:
        shape = shape_of(labels)
        count = shape[:1]
        height, width, channels = self.image_shape
        sides = (channels, height, width) if self._planar else (height, width, channels)
        return Batch(
            Array(images, count + sides, self._dtype),
            Array(labels, shape, self._label_dtype),
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
        """Ends the threads now, and frees the memory that they wrote to, which otherwise waits for the next
        iteration. Batches stay valid; iterating starts threads again."""
        self._end()
        self._free()

    def _free(self) -> None:
        if self._memory is not None:
            self._memory.free()

    def _end(self) -> None:
        self._progress.end_turn()
        run = self._alive()
        if run is not None:
            run.close()
        self._run = None

    def state_dict(self) -> dict[str, int]:
        """Where the run stands, behind the last batch handed out: three integers. A fourth, `draws`, is the seed
        of what is drawn for each sample, where it is not `seed`; `load_state_dict` may be given it.

        `load_state_dict` of a loader of the same dataset and recipe takes it, at any number of
        threads, ranks and images a batch."""
        state = zip(("seed", "epoch", "position", "draws"), self._progress.state)
        return {name: value for name, value in state if value is not None}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Goes on where `state` was taken, from the next iteration. Ends the current one.

        Raises ValueError where it cannot be a state of this dataset."""
        if not isinstance(state, collections.abc.Mapping):
            raise TypeError(
                f"state: expected a dict of seed, epoch and position, found {reprlib.repr(state)}"
            )
        start = self._settings.start(dict(state))
        self._end()
        self._progress.go_to(*start)

    def stats(self) -> dict[str, float]:
        """Sums of the iteration that is alive; empty without one: images, batches, bytes_read
        (encoded), wait_seconds (of the caller, for batches), busy_read_seconds, busy_decode_seconds
        and busy_augment_seconds (over all threads), bad_seats (replaced or skipped), shrunk_images
        (decoded at a half of their size or less), threads (now) and transform_seconds (of the caller,
        in `transform`)."""
        run = self._alive()
        return run.stats() if run is not None else {}

    def _draws_order(self) -> bool:
        drawn = ("weights", "groups")
        return self._settings.shuffles or any(self._arguments[name] is not None for name in drawn)

    def _share(self, rank: int, ranks: int) -> None:
        """Takes the share of that rank, from the next iteration on."""
        self._settings = self._settings.shared(rank, ranks)
        self._arguments |= {"rank": rank, "ranks": ranks}

    def _reorder(self, order: list[int]) -> None:
        """Takes these samples, in that order, from the next iteration on."""
        self._arguments["order"] = order
        self._settings = self._settings.listing(_native.listed(self.dataset._native, order))

    def __reduce__(self) -> Any:
        return _again, (type(self), self._arguments, self.state_dict())

    def __repr__(self) -> str:
        return f"feedrate.Loader({self.dataset.info['path']!r}: {self.state_dict()})"


def _again(kind: type[Loader[T]], arguments: dict[str, Any], state: dict[str, int]) -> Loader[T]:
    """A loader from a pickle."""
    loader = kind(**arguments)
    loader.load_state_dict(state)
    return loader


class _Iteration(Generic[T]):
    """Hands out the batches of a run, each to one of the threads that ask. Unlike a generator, any
    number of threads may ask at the same time."""

    __slots__ = ("_loader", "_run")

    def __init__(self, loader: Loader[T], run: _native.Run) -> None:
        self._loader = loader
        self._run: _native.Run | None = run

    def __iter__(self) -> _Iteration[T]:
        return self

    def __next__(self) -> T:
        run = self._run
        if run is None:
            raise StopIteration
        try:
            taking = run.next()
            if taking is None:
                if self._loader._epochs == self._loader._settings.epochs:
                    self._loader._free()  # nothing will start again
                raise StopIteration
            taken, values = taking
            given: Any = self._loader._batch(*values)  # a T, if nothing transforms it
            if self._loader._transform is not None:
                given = _timed(run, self._loader._transform, given)
            # Last of all, and no call: Ctrl-C loses the batch before, when it comes again, or not at all.
            run.handed_out = taken
            return given  # type: ignore[no-any-return]
        except BaseException:
            self._run = None  # ends the threads
            raise


def _timed(run: _native.Run, transform: Callable[[Batch[Any]], T], batch: Batch[Any]) -> T:
    start = time.perf_counter()
    try:
        return called("transform", transform, batch)
    finally:
        run.add_transform(time.perf_counter() - start)
