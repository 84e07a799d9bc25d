"""`feedrate.torch.like`: from a DataLoader of PyTorch, one of ours that yields the same."""

from __future__ import annotations

import os
import sys
import weakref
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import torch
from torch.utils import data

from feedrate._errors import DataError
from feedrate._given import expect_flag
from feedrate._like_data import found_in
from feedrate._like_found import Found, Rows
from feedrate._like_stand_ins import StandIns
from feedrate._like_steps import Unlike, View
from feedrate._like_transforms import Plan, passes_of, plan_of
from feedrate._random_states import kept_random_states
from feedrate._torch_remade import Changes, samplers_within
from feedrate._torch_samplers import Shared

if TYPE_CHECKING:
    from feedrate.torch import DataLoader


def like(
    loader: data.DataLoader[Any],
    *,
    threads: int | None = None,
    directory: str | os.PathLike[str] | None = None,
    shared: bool | None = None,
) -> DataLoader[Any]:
    """A `DataLoader` that yields what one of PyTorch's does: the same samples, shapes, types and number of
    batches, and the numbers drawn for each sample from the same distributions.

    Its dataset is an ImageFolder, ImageNet, CIFAR10, CIFAR100, MNIST or FashionMNIST of torchvision, an
    ImageDataset of timm, a Dataset of Hugging Face's `datasets`, a ConcatDataset of some whose transforms are alike,
    a Dataset of your own that opens a file with Pillow, calls a Compose and returns what that gives and a label, or a
    Subset of one; labels are its own, by its classes and its target_transform; its transform is made of
    torchvision's, v1 or v2, that are parts of recipes here. Of Hugging Face's it is the Compose that the function
    of `with_transform` calls: that function is called with all rows and small pictures, twice, and a collate_fn with
    some, to see that nothing else becomes of them; so is the `__getitem__` of a Dataset of your own. Folders are read
    where they lie. The sampler is taken as the argument of `DataLoader`, and seeds are drawn as there: from the
    generators of `loader` and its sampler, or torch's global one, whenever an iteration starts. A collate_fn of your
    own is called with images that are ready. A sample that Feedrate cannot decode and the dataset of `loader` can is
    decoded there, once, and kept in a temporary file: the first is warned of.

    Args:
        loader: it is left as it is, and is not iterated over.
        threads: in place of its num_workers, of which 0 becomes 1.
        directory: where the data are converted to, or were before: folders and Hugging Face's tables to
            RecordIO, CIFAR and MNIST to LMDB. Of several ranks, one converts, and the others wait. None: folders
            stay, and tables of up to 1 GiB, CIFAR and MNIST are converted in a temporary directory, which goes
            with the dataset.
        shared: what the ranks of torch.distributed do where no sampler of `loader` knows them, as none does before
            Lightning, Accelerate or the Trainer of Hugging Face wrap it, which they cannot do here. True: they share each
            epoch as a DistributedSampler has them do, with some images twice where it cannot be divided; False: each
            reads everything; None: several ranks are a RuntimeError of `len` and of iterations.

    What a script changes in the dataset or the sampler between two epochs (transform, samples, indices, weights) is taken
    up when an iteration starts, or that raises ValueError.

    Raises ValueError for a loader that yields what Feedrate does not make: all the reasons."""
    try:
        return loader_like(likeness_of(loader, threads, directory, shared=shared))
    except Unlike as unlike:
        raise ValueError(f"Feedrate has nothing like this loader: {unlike}") from None


def pixel_difference(loader: data.DataLoader[Any], samples: int = 100) -> Difference:
    """How much the pixels of `like(loader)` differ from those of `loader`, from 0 to 255, where the random
    numbers are the same: those that torchvision draws are forced upon Feedrate. Of samples at equal
    distances. Leaves random states as they were. Raises ValueError as `like` does."""
    try:
        return difference(likeness_of(loader, None, None), samples)
    except Unlike as unlike:
        raise ValueError(f"Feedrate has nothing like this loader: {unlike}") from None


class Likeness(NamedTuple):
    """What a DataLoader of PyTorch's is here."""

    found: Found
    plan: Plan
    options: dict[str, Any]  # of feedrate.torch.DataLoader
    notes: list[str]  # sentences: what is otherwise
    stand_ins: StandIns
    theirs: Callable[[], Any]
    alone: bool  # several ranks are an error
    again: Callable[[], DataLoader[Any]]  # of what there is by then


def likeness_of(
    theirs: Any,
    threads: int | None,
    directory: str | os.PathLike[str] | None,
    is_inner: bool = False,
    shared: bool | None = False,
) -> Likeness:
    """Raises Unlike, whose text is every reason that was found. `is_inner`: a derived class goes on with what its
    DataLoader yields. `shared`: see like()."""
    expect_flag("shared", shared)
    if not isinstance(theirs, data.DataLoader):
        raise TypeError(f"loader: expected a torch.utils.data.DataLoader, found {theirs!r}")
    reasons: list[str] = []
    if not is_inner and type(theirs).__iter__ is not data.DataLoader.__iter__:
        reasons.append(f"{type(theirs).__name__} is a DataLoader that changes what it yields: give the one it was made of")
    place = None if directory is None else os.fspath(directory)
    found = _unless(reasons, lambda: found_in(theirs.dataset, theirs.collate_fn, place))
    plan: Plan | None = None
    if found is not None:
        plan = _unless(reasons, lambda: plan_of(found.transform, found.channels))
    elif hasattr(theirs.dataset, "transform"):
        _unless(reasons, lambda: plan_of(theirs.dataset.transform, None))
    if theirs.batch_size is None and theirs.batch_sampler is None:
        reasons.append("it does not batch its samples")
    if found is None or plan is None or reasons:
        raise Unlike("; ".join(reasons))
    notes: list[str] = []
    options = _options(theirs, plan, threads, bool(shared) and not knows_ranks(theirs), notes)
    options["labels"] = found.labels
    options["transform"] = _collated(theirs.collate_fn, found.rows, notes)

    # The probe keeps ours as long as theirs lives.
    held: Callable[[], Any] = weakref.ref(theirs) if is_inner else lambda: theirs

    def again() -> DataLoader[Any]:
        try:
            return loader_like(likeness_of(held(), threads, directory, is_inner, shared))
        except Unlike as unlike:
            raise ValueError(f"Feedrate has nothing like it: {unlike}") from None

    alone = shared is None and not knows_ranks(theirs)
    return Likeness(found, plan, options, notes, StandIns(found), held, alone, again)


def knows_ranks(theirs: Any) -> bool:
    """Whether a sampler of it yields the share of one rank: a DistributedSampler, or Accelerate's."""
    return any(hasattr(one, "num_replicas") or hasattr(one, "num_processes") for one in samplers_within(theirs))


def _unless(reasons: list[str], make: Callable[[], Any]) -> Any:
    try:
        return make()
    except Unlike as unlike:
        reasons.append(str(unlike))
    return None


def _options(theirs: Any, plan: Plan, threads: int | None, shares: bool, notes: list[str]) -> dict[str, Any]:
    given: dict[str, Any] = {
        "recipe": plan.recipe,
        "pixels": plan.pixels,
        "layout": "nchw",
        "threads": threads if threads is not None else max(1, theirs.num_workers),
        "pin_memory": theirs.pin_memory,
        "persistent_workers": None if theirs.num_workers == 0 else theirs.persistent_workers,
        "generator": theirs.generator,
    }
    if plan.pixels == "f32":
        given |= {"mean": plan.mean, "deviation": plan.deviation}
    _take_order(theirs, shares, given)
    if getattr(sys.modules.get("PIL.ImageFile"), "LOAD_TRUNCATED_IMAGES", False):
        notes.append("Pillow is told to load truncated images; Feedrate leaves each that it meets to Pillow")
    if theirs.worker_init_fn is not None:
        notes.append("its worker_init_fn is not called: there are no workers")
    return given


def _take_order(theirs: Any, shares: bool, given: dict[str, Any]) -> None:
    batches = theirs.batch_sampler
    sampler = theirs.sampler
    if type(batches) is data.BatchSampler:
        given["batch_size"], given["drop_last"] = batches.batch_size, batches.drop_last
        sampler = batches.sampler
        given["sampler"] = sampler
    else:
        given["batch_sampler"] = batches
    if shares:
        if "sampler" not in given:
            raise Unlike(f"shared: of samplers, not of {type(batches).__name__}, whose batches each rank would draw for itself")
        given["sampler"] = Shared(sampler)
        return
    if type(sampler) is data.DistributedSampler and "sampler" in given:
        return  # it states its seed, which is that of all ranks, and this one's share
    given["rank"], given["ranks"] = 0, 1  # as theirs, which knows of no ranks


def _collated(collate: Any, rows: Rows | None, notes: list[str]) -> Callable[..., Any] | None:
    """What makes of images and labels the batch that theirs is."""
    name = getattr(collate, "__name__", "")
    if collate is data.default_collate:
        return _listed if rows is None else rows.batch
    if name == "fast_collate" and getattr(collate, "__module__", "") == "timm.data.loader":
        return None  # (images, labels)
    notes.append(f"its collate_fn is called with images that are ready: Python's speed ({name or type(collate).__name__})")
    return _Collated(collate, rows)


def _listed(images: torch.Tensor, labels: torch.Tensor) -> list[torch.Tensor]:
    return [images, labels]


class _Collated:
    def __init__(self, collate: Any, rows: Rows | None) -> None:
        self._collate = collate
        self._rows = rows

    def __call__(self, images: torch.Tensor, labels: torch.Tensor) -> Any:
        samples = zip(images, labels.tolist())
        return self._collate(list(samples) if self._rows is None else [self._rows.sample(*one) for one in samples])


def loader_like(likeness: Likeness) -> DataLoader[Any]:
    from feedrate.torch import DataLoader

    dataset: Any = likeness.found.source.dataset
    if likeness.found.source.within is not None:
        dataset = data.Subset(dataset, likeness.found.source.within)
    theirs = likeness.theirs()
    with kept_random_states(theirs):  # of which a sampler may draw
        made: DataLoader[Any] = DataLoader(dataset, **likeness.options)
    made._likeness, made._alone = likeness, likeness.alone
    made._changes = Changes(likeness.again, theirs.dataset, theirs.sampler, theirs.batch_sampler)
    return made


# How much its pixels differ.


class Difference(NamedTuple):
    """Between pixels of 0 ... 255 as theirs and ours make them of the same samples and drawn numbers."""

    largest: float
    mean: float
    samples: int
    left_out: list[str]
    """What both went without: changes of colours, whose arithmetic is Pillow's."""


def difference(likeness: Likeness, samples: int) -> Difference:
    """Draws the numbers of theirs, forces them upon ours, and leaves Python's random states as they were."""
    source = likeness.found.source
    size = len(source.dataset) if source.within is None else len(source.within)
    count = min(samples, size)
    largest, total, values = 0.0, 0.0, 0
    with kept_random_states():
        for number in range(count):
            at = number * size // count
            index = at if source.within is None else source.within[at]
            try:
                distance = _distance(likeness, index)
            except DataError:  # theirs decodes it in both
                continue
            largest = max(largest, float(distance.max()))
            total += float(distance.sum(dtype=torch.float64))
            values += distance.numel()
    left_out = [step.parts.partition(":")[0] for step in likeness.plan.steps if not step.compared]
    return Difference(largest, total / max(1, values), count, left_out)


def _distance(likeness: Likeness, index: int) -> torch.Tensor:
    plan = likeness.plan
    native: Any = likeness.found.source.dataset._native
    image = likeness.found.load(index)
    ours_seen: list[View] = []
    views = image, View.whole(image.size[1], image.size[0])
    done = 0
    for number, steps in enumerate(passes_of(plan.steps)):
        if number != 0:
            ours_seen.append(views[1])
            views = views[0], View.whole(*views[1].window[2:])
        for step in steps:
            # A tensor is resized by other code than a picture.
            while done < step.behind and step.compared:
                views = plan.rest[done](views[0]), views[1]
                done += 1
            views = step.force(views)
    ours_seen.append(views[1])
    theirs = views[0]
    for transform in plan.rest[done:]:
        theirs = transform(theirs)
    theirs = torch.as_tensor(theirs)
    ours: Any = torch.from_dlpack(native.view(index, ours_seen, int(theirs.shape[0]))).permute(2, 0, 1)
    if plan.pixels == "u8":
        return (theirs.float() - ours.float()).abs()
    mean, deviation = (torch.tensor(one).view(-1, 1, 1) for one in (plan.mean, plan.deviation))
    return (theirs * deviation + mean - ours.float()).abs()
