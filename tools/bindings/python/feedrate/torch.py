"""Feedrate's loader for PyTorch: `feedrate.torch.DataLoader`, and its datasets for PyTorch's own."""

from __future__ import annotations

import copy
import functools
import os
import reprlib
import warnings
import weakref
from typing import TYPE_CHECKING, Any, Callable, Generic, Iterable, Literal, Sequence, TypeVar, cast, overload

import torch
import torch.utils.data

from feedrate import _data, _native
from feedrate._errors import DataError
from feedrate._given import expect_flag, expect_function
from feedrate._like import Difference, Likeness, like, pixel_difference
from feedrate._settings import OF_RUNS, SETTINGS, takes_settings
from feedrate._torch_attributes import Attributes
from feedrate._torch_dataset import Dataset
from feedrate._torch_decoder import Decoder, expect_decoder
from feedrate._torch_epoch import Epoch, Run, Streams, pin, soft_classes, unpin
from feedrate._torch_names import expect_named, source_of, take_names
from feedrate._torch_ranks import expect_alone
from feedrate._torch_ranks import share as _share
from feedrate._torch_remade import Changes, Remade
from feedrate._torch_samplers import USUAL_BATCH, Order, take_samplers
from feedrate._torch_seeds import seeds_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from feedrate._keywords import EpochKeywords
    from feedrate._torch_keywords import TorchKeywords

__all__ = ["DataLoader", "Dataset", "Difference", "like", "pixel_difference"]

T = TypeVar("T")
Tensors = tuple[torch.Tensor, torch.Tensor]
IndexedTensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


class DataLoader(Attributes, Remade, Generic[T]):
    """Yields (images, labels) of one epoch, as `torch.utils.data.DataLoader` does.

    Images are count x channels x height x width: u8 in channels_last memory, which convolutions on a
    GPU prefer, or with pixels="f32" or "f16" (pixel - mean) / deviation, contiguous. layout="nchw"
    makes them contiguous, "nhwc" channels_last. Labels are int64; where the recipe has mixup or cutmix
    they are float32, count x classes, the share of each class, which `cross_entropy` takes as well.
    Nothing is copied on the way: the tensors are the memory that the loader filled, page-locked where
    PyTorch has a GPU. With a `device` of CUDA the tensors are on it; batches are copied ahead on a
    stream of their own. decode="device" leaves packed JPEGs to the GPU: our kernels decode them, ahead
    on that stream, into new tensors of the values that the threads would give.

    Each iteration is an epoch, in an order and with random draws of its own. Their seeds are drawn when it
    starts, as PyTorch's loader draws its own: from `generator` or torch's global one, which an epoch leaves
    where PyTorch's loader does. So two loaders differ, and torch.manual_seed repeats both. With a `seed`
    nothing is drawn there: epoch N of any such loader is the same, and after each epoch threads prepare the
    next one. Ranks that share an epoch have one order without a word to each other, that of seed 1 or of
    generator.initial_seed(), which `set_epoch` chooses, from epoch 0 where a loader is made anew; what is drawn
    for samples is each rank's own.

    Where samplers or datasets of PyTorch's are given, what is changed in them (weights, indices, samples) is
    taken up when an iteration starts, as by PyTorch's loader, or raises ValueError.

    When an iteration was broken off, the next one is the next epoch, from its start. One that begins while
    others go on is an epoch of its own as well, with threads of its own, as zip(loader, loader) has two; the
    state is then behind the last batch that any of them handed out. `load_state_dict` makes the next
    iteration the rest of the epoch that was saved: no batch where no whole one is left, as behind the last
    one, so that each epoch is iterated over once. A batch that Ctrl-C or an exception in `transform` kept
    from a `for` loop is in that rest. Any Trainer that takes an iterable with a length takes this one.
    One thread.

    Arguments of PyTorch's DataLoader mean here what they mean there, or are refused by a TypeError that
    names what there is instead.

    Raises what `feedrate.Loader` raises, and RuntimeError from an iteration under which the ranks of
    torch.distributed change.
    """

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: DataLoader[Tensors],
            dataset: _data.Dataset | torch.utils.data.Dataset[object] | str | os.PathLike[str],
            recipe: str = ...,
            *,
            transform: None = None,
            indices: Literal[False] = False,
            **options: Unpack[TorchKeywords],
        ) -> None: ...

        @overload
        def __init__(
            self: DataLoader[IndexedTensors],
            dataset: _data.Dataset | torch.utils.data.Dataset[object] | str | os.PathLike[str],
            recipe: str = ...,
            *,
            transform: None = None,
            indices: Literal[True],
            **options: Unpack[TorchKeywords],
        ) -> None: ...

        @overload
        def __init__(
            self,
            dataset: _data.Dataset | torch.utils.data.Dataset[object] | str | os.PathLike[str],
            recipe: str = ...,
            *,
            transform: Callable[..., T],
            indices: bool = False,
            **options: Unpack[TorchKeywords],
        ) -> None: ...

    @takes_settings(without=OF_RUNS)
    def __init__(
        self,
        dataset: _data.Dataset | torch.utils.data.Dataset[object] | str | os.PathLike[str],
        recipe: str = SETTINGS["recipe"]["default"],
        *others: object,
        batch_size: int = USUAL_BATCH,
        device: torch.device | str | None = None,
        decode: Literal["full", "scaled", "device"] = SETTINGS["decode"]["default"],
        pin_memory: bool | None = None,
        drop_last: bool = False,
        rank: int | None = None,
        ranks: int | None = None,
        order: Iterable[int] | None = None,
        weights: Iterable[float] | Literal["balanced"] | None = None,
        groups: tuple[int, int] | None = None,
        draws: int | None = None,
        labels: Iterable[float] | Iterable[Sequence[float]] | Literal["lists"] | None = None,
        transform: Callable[..., object] | None = None,
        sample_transform: Callable[[torch.Tensor], torch.Tensor] | None = None,
        indices: bool = False,
        seed: int | None = None,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Sequence[int]] | None = None,
        num_workers: int | None = None,
        persistent_workers: bool | None = None,
        generator: torch.Generator | None = None,
        std: float | Sequence[float] | None = None,
        **settings: Unpack[EpochKeywords],
    ) -> None:
        """
        Args:
            dataset: a dataset of `feedrate.open`, or the path of one; a torchvision ImageFolder without
                transforms; a Subset of one, or a ConcatDataset of several, of torch.utils.data.
            recipe: what part of an image goes into a batch; `feedrate.recipes()` lists them.
            batch_size: images in a batch of this rank.
            device: where the tensors shall be; None: in the memory that the loader filled.
            decode: JPEGs in full, or scaled where a crop allows it; "device": packed JPEGs in full, by the GPU
                of `device`. Needs feedrate-cuda, a dataset of packed JPEGs and a recipe that
                does no work on pixels but to crop, resize and flip.
            pin_memory: page-lock that memory where PyTorch has a GPU; True warns where it has none.
            drop_last: leave out images that do not fill a batch, as last="drop" does.
            rank, ranks: this process's share of each epoch; None: torch.distributed's, which is asked
                by `len` and whenever an iteration starts.
            order, weights, groups, draws, labels: what an epoch holds; see `feedrate.Loader`.
            transform: called with images and labels, and with indices=True those; what it returns is
                yielded. `stats` has the time that it took, as transform_seconds.
            sample_transform: called with each image, channels x height x width, in the iterating thread,
                before `transform`; what it returns is stacked. Python's speed: see
                sample_transform_seconds in `stats`, and prefer a recipe.
            indices: yield (images, labels, indices), where each image is in the dataset, int64.
            seed: of every random choice; None: drawn for each iteration.
            sampler, batch_sampler: PyTorch's samplers become settings: `shuffle`, `order`, `weights`,
                `rank` and `ranks`; a DistributedSampler's set_epoch holds for the next iteration. Any other
                yields the indices of an epoch, and is asked at the start of each, after its set_epoch; to
                resume in the middle of one, it has to yield them again. An epoch that is set from outside
                is the next iteration's, too. Batches are of one size.
            num_workers: `threads`.
            persistent_workers: False ends the threads after each epoch, as they end where its seeds are drawn.
            generator: of which seeds are drawn, in place of torch's global one.
            std: `deviation`.

        Settings that the shell and C have, too:
        """
        arguments = {name: value for name, value in locals().items() if name not in ("self", "others", "settings")}
        arguments |= settings
        expect_named(recipe, others)
        given: dict[str, Any] = settings | ({} if seed is None else {"seed": seed})
        take_names({"num_workers": num_workers, "generator": generator, "std": std}, given)
        if not given.keys().isdisjoint(("batch", "epochs")) or ("last" in given and drop_last):
            raise ValueError("epochs, batch and last: each iteration is an epoch; see batch_size, drop_last")
        if (rank is None) != (ranks is None):
            raise ValueError("rank and ranks go together")
        _native.expect("batch", batch_size, "batch_size")
        expect_function("transform", transform)
        expect_function("sample_transform", sample_transform)
        expect_flag("pin_memory", pin_memory)
        expect_flag("drop_last", drop_last)
        expect_flag("persistent_workers", persistent_workers)
        expect_flag("indices", indices, ", whether batches hold theirs (order= chooses samples)")
        holds = {"order": order, "weights": weights, "groups": groups, "draws": draws, "rank": rank, "ranks": ranks}
        given |= {name: value for name, value in holds.items() if value is not None}
        given |= {"recipe": recipe, "batch": batch_size}
        if decode not in ("full", "scaled", "device"):
            raise ValueError(f"decode: expected 'full', 'scaled' or 'device', found {reprlib.repr(decode)}")
        self._decodes = decode == "device"
        if not self._decodes:
            given["decode"] = decode
        if drop_last:
            given["last"] = "drop"
        self._source = source_of(dataset)
        sampling = take_samplers(sampler, batch_sampler, self._source, given)
        if generator is not None:
            given.setdefault("seed", generator.initial_seed())
        self._order = Order(sampling, self._source)
        rank, ranks = given.pop("rank", None), given.pop("ranks", None)
        self._asks = rank is None  # for its share
        self._share: tuple[int, int] = _share() if rank is None or ranks is None else (rank, ranks)
        self._loader = sampling.loader(
            self._source.dataset,
            epochs=None,
            rank=self._share[0],
            ranks=self._share[1],
            labels=labels,
            **given,
        )
        self._classes = soft_classes(self._loader)
        self.batch_size = int(given["batch"])
        self.drop_last = given.get("last") == "drop"
        self.device = torch.device(device) if device is not None else None
        if self.device is not None and self.device.type == "cuda" and not torch.cuda.is_available():
            raise RuntimeError(f"device: expected one of this machine's, found {self.device}: PyTorch finds no GPU")
        if self._decodes:
            expect_decoder(self._loader._settings, self.device)
        self._transform = transform
        self._sample_transform = sample_transform
        self._sample_seconds = 0.0  # in it, since the threads were started
        self._indices = indices
        self._persists = persistent_workers is not False and not self._order.is_asked
        sampled = None if sampler is batch_sampler is None else sampling.seeded_by or False
        drawn = seeds_of(self._loader, generator, len(self._source), sampled, bool(persistent_workers))
        self._seeds = drawn if seed is None else None
        self._pins = pin_memory is not False and torch.cuda.is_available()
        if pin_memory and not self._pins:
            warnings.warn("pin_memory=True, but PyTorch finds no GPU: memory is not page-locked", stacklevel=2)
        self._likeness: Likeness | None = None  # to a loader that it was made like …
        self._alone = False  # … which knows no ranks, so that there may be no others
        self._changes: Changes | None = Changes(functools.partial(DataLoader, **arguments), dataset, sampler, batch_sampler)
        self._live: Run | None = None  # at the start of the next epoch
        self._state = self._loader.state_dict()  # behind the last batch handed out
        self._resumes = False  # the next iteration starts there, in the middle of an epoch or not …
        self._seeded = False  # … and with these seeds
        self._free_from = 0  # the epoch that no iteration beside another has had, since somebody said where to start
        self._iterations: weakref.WeakSet[Epoch[T]] = weakref.WeakSet()  # of this loader, and of those beside
        self._streams = Streams()
        self.generator = generator

    @property
    def dataset(self) -> _data.Dataset:
        """The dataset as it was given, opened, whole: an epoch of `order`, `weights`, `groups`, `draws` or
        a sampler may hold another number of samples."""
        return cast(_data.Dataset, self._source.given)

    def __len__(self) -> int:
        """Batches of this rank in an epoch."""
        self._take_share()
        if not any(one.goes_on for one in self._iterations):
            self._take_changes()
        return self._loader.batches_per_epoch

    def __iter__(self) -> Epoch[T]:
        others = [other for other in self._iterations if other.goes_on]
        begins = copy.copy(self) if any(other.loader is self for other in others) else self
        begins._take_changes()
        epoch = self._order.epoch_set()
        begins._free_from = max([self._free_from, *(other.epoch + 1 for other in others)])
        if epoch is not None:
            begins.set_epoch(epoch)
        iteration = begins._begun_for(self)
        if begins is not self:
            self._free_from = max(self._free_from, iteration.epoch + 1)
        self._iterations.add(iteration)
        return iteration

    def _begun_for(self, owner: DataLoader[T]) -> Epoch[T]:
        self._take_share()
        self._go_to_next()
        self._resumes = self._seeded = False
        indices = self._order.indices_at(self._state)
        if indices is not None:
            self._loader._reorder(indices)
        live, self._live = self._live, None
        if live is None or not live.stands_at(self._state):
            live = self._run_from(self._state)
            self._sample_seconds = 0.0
        return Epoch(self, live, owner)

    def _run_from(self, state: dict[str, int]) -> Run:
        self._loader.load_state_dict(state)
        self._loader._epochs = None if self._prepares else state["epoch"] + 1
        self._loader._pin = (pin, unpin) if self._pins else None
        self._loader._packed = self._decodes
        settings = self._loader._settings
        return Run(self._loader, Decoder(self.device, self.batch_size, settings) if self._decodes else None)

    def _run_without(self, error: DataError, state: dict[str, int]) -> Run:
        """From that state, where theirs decodes the sample that ours cannot. Raises the error where it is not
        like another loader, or theirs cannot, either."""
        if self._likeness is None:
            raise error
        self._loader = self._likeness.stand_ins.in_loader(self._loader, error)
        return self._run_from(state)

    def set_epoch(self, epoch: int) -> None:
        """Makes the next iteration that epoch, from 0; one to be resumed there stays as it is."""
        if not hasattr(epoch, "__index__"):
            raise TypeError(f"epoch: expected a whole number from 0, found {reprlib.repr(epoch)}")
        epoch = int(epoch)
        if epoch != self._state["epoch"] or not self._resumes:
            self._free_from = 0
            self._go_to({**self._state, "epoch": epoch, "position": 0})
            self._seeded = False

    def state_dict(self) -> dict[str, int]:
        """Where the run stands, behind the last batch handed out: integers, with the seeds. Between two epochs,
        the seeds of the next one are drawn now."""
        if self._state["position"] == 0 and not any(one.goes_on for one in self._iterations):
            self._go_to_next()
        return dict(self._state)

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Makes the next iteration the rest of the epoch in which `state` was taken.

        It may come from another number of threads, ranks and images a batch. Where these leave no batch of
        the epoch, the iteration is empty."""
        self._free_from = 0
        self._go_to(state)
        self._seeded = True

    def stats(self) -> dict[str, float]:
        """As `feedrate.Loader.stats` has it, and the seconds in `sample_transform`. Sums since the threads
        were started; empty without any."""
        stats = self._loader.stats()
        if stats and self._sample_transform is not None:
            stats["sample_transform_seconds"] = self._sample_seconds
        return stats

    def close(self) -> None:
        """Ends the threads, and gives their memory back. The next iteration starts them again."""
        self._live = None
        for loader in (self, *(iteration.loader for iteration in self._iterations)):
            loader._loader.close()

    def __repr__(self) -> str:
        rank = f", rank {self._share[0]} of {self._share[1]}" if self._share[1] > 1 else ""
        return f"feedrate.torch.DataLoader({self.dataset!r}, {self._loader.batches_per_epoch} batches of {self.batch_size}{rank})"

    @property
    def _prepares(self) -> bool:
        """Whether threads prepare the next epoch."""
        return self._persists and not (self._seeds is not None and self._seeds.change)

    def _go_to_next(self) -> None:
        """To where the next iteration starts."""
        state = self._state
        if not self._resumes:
            # The last one was broken off, or others have had the next epochs.
            ended = state["epoch"] + (1 if state["position"] != 0 else 0)
            state = {**state, "epoch": max(ended, self._free_from), "position": 0}
        if self._seeds is not None and not self._seeded:
            state = self._seeds.of_next(state, self._share_now()[1])
        if state != self._state:
            self._go_to(state)
        self._resumes = self._seeded = True

    def _go_to(self, state: dict[str, int]) -> None:
        if self._live is None or not self._live.stands_at(state):
            self._live = None
            self._loader.load_state_dict(state)
        self._state = self._loader.state_dict() if self._live is None else dict(self._live.state)
        self._resumes = True

    def _share_now(self) -> tuple[int, int]:
        return _share() if self._asks else self._share

    def _take_share(self) -> None:
        """Makes the share this process's, which has changed if torch.distributed has been set up
        since. An iteration that is under way stays as it is, and raises."""
        if self._alone:
            expect_alone(_share()[1])
        share = self._share_now()
        if share != self._share:
            self._loader._share(*share)
            self._share = share
            self._live = None
