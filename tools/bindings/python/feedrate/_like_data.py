"""Datasets of torchvision's, timm's and Hugging Face's, as datasets of ours."""

from __future__ import annotations

import os
import sys
from typing import Any, Callable, Iterable

from torch.utils import data

from feedrate._like_found import Found, converted, found_in_place, made_in
from feedrate._like_function import are_alike
from feedrate._like_hub import found_in_reader, found_in_table
from feedrate._like_own import found_in_own
from feedrate._like_steps import Unlike
from feedrate._loader import Loader
from feedrate._random_states import kept_random_states
from feedrate._torch_names import Source, _chosen, _joined, indices_of


def found_in(dataset: Any, collate: Any, directory: str | None) -> Found:
    """Of a dataset of a known kind, whose samples become batches by `collate`. Raises Unlike for another."""
    within: list[int] | None = None
    inner = dataset
    while type(inner) is data.Subset:
        within = _chosen(indices_of(inner.indices, "Subset"), within)
        inner = inner.dataset
    name = type(inner).__name__
    if type(inner) is data.ConcatDataset:
        return _within(_joined_found(inner, collate, directory), dataset, within)
    for kind, find in _kinds():
        # One of their subclasses may read as they do, such as ImageNet, or otherwise.
        if isinstance(inner, kind) and _reads_as(inner, kind):
            found: Found = find(inner, collate, directory)
            change = getattr(inner, "target_transform", None)
            if change is not None:
                found = found._replace(labels=_changed_labels(found, change))
            return _within(found, dataset, within)
    if isinstance(inner, data.IterableDataset) or name == "IterableDataset":
        raise Unlike(f"{name} yields its samples in an order of its own")
    try:
        return _within(found_in_own(inner, collate, directory), dataset, within)
    except Unlike as why:
        raise Unlike(
            f"{name} is no ImageFolder, CIFAR or MNIST of torchvision, no ImageDataset of timm, no Dataset of Hugging Face, "
            f"no ConcatDataset of such, and no Dataset of files: {why}"
        ) from None


def _within(found: Found, dataset: Any, within: list[int] | None) -> Found:
    ours, listed = found.source.dataset, found.source.within
    chosen = listed if within is None else within if listed is None else _chosen(listed, within)
    return found._replace(source=Source(ours, dataset, chosen))


def _changed_labels(found: Found, change: Callable[[int], Any]) -> list[int]:
    """What the target_transform makes of the labels, where that is whole numbers, and the same each time."""
    listed = found.source.within
    labels = list(found.labels or found.source.dataset.targets)
    indices = range(len(labels)) if listed is None else listed
    with kept_random_states():
        made, again = ([change(labels[index]) for index in indices] for _ in range(2))
    if any(type(one) is not int for one in made):
        kind = next(type(one).__name__ for one in made if type(one) is not int)
        raise Unlike(f"the target_transform makes labels of the type {kind}, not int")
    if made != again:
        raise Unlike("the target_transform makes other labels each time")
    for index, label in zip(indices, made):
        labels[index] = label
    return labels


def _joined_found(joined: Any, collate: Any, directory: str | None) -> Found:
    """Of a ConcatDataset whose parts do the same with every image."""
    parts: list[Found] = []
    for number, part in enumerate(joined.datasets):
        place = None if directory is None else os.path.join(directory, f"part-{number}")
        parts.append(found_in(part, collate, place))
    first = parts[0]
    if any(one.rows is not None for one in parts):
        raise Unlike("a ConcatDataset of tables of Hugging Face")
    if not all(one.channels == first.channels and are_alike(one.transform, first.transform) for one in parts):
        raise Unlike("the parts of the ConcatDataset have different transforms")
    if len({id(one.source.dataset) for one in parts}) < len(parts):
        raise Unlike("the ConcatDataset has one table twice")
    try:
        ours, listed = _joined([one.source for one in parts])
    except ValueError as error:
        raise Unlike(f"the parts of the ConcatDataset are not joined here: {error}") from None
    owners: list[tuple[Found, int]] = []
    labels: list[Any] = []
    for part in parts:
        owners += [(part, index) for index in range(len(part.source.dataset))]
        labels += part.labels or part.source.dataset.targets

    if len({type(one) for one in labels}) > 1:
        raise Unlike("the parts of the ConcatDataset have labels of several types")

    def load(index: int) -> Any:
        part, own = owners[index]
        return part.load(own)

    return Found(Source(ours, joined, listed), first.transform, first.channels, load, labels=labels)


def _reads_as(dataset: Any, kind: Any) -> bool:
    methods = "__getitem__", "__getitems__", "__len__"
    return all(getattr(type(dataset), name, None) is getattr(kind, name, None) for name in methods)


def _kinds() -> Iterable[tuple[Any, Any]]:
    vision: Any = sys.modules.get("torchvision.datasets")
    if vision is not None:
        yield vision.DatasetFolder, _folder
        yield vision.CIFAR10, _cifar
        yield vision.MNIST, _mnist
    timm: Any = sys.modules.get("timm.data.dataset")
    if timm is not None:
        yield timm.ImageDataset, _timm
    hub: Any = sys.modules.get("datasets")
    if hub is not None:
        yield hub.Dataset, found_in_table


def _folder(folder: Any, collate: Any, directory: str | None) -> Found:
    vision: Any = sys.modules["torchvision.datasets.folder"]
    name = type(folder).__name__
    if folder.loader not in (vision.default_loader, vision.pil_loader):
        try:
            return found_in_own(folder, collate, directory)
        except Unlike as why:
            raise Unlike(f"the {name} has a loader of its own, and {why}") from None
    if folder.loader is vision.default_loader and sys.modules["torchvision"].get_image_backend() != "PIL":
        raise Unlike(f"the {name} loads with another backend than PIL")
    root = getattr(folder, "split_folder", folder.root)  # the former: torchvision's ImageNet
    return found_in_place(folder, root, folder.samples, folder.transform, directory)


def _timm(dataset: Any, collate: Any, directory: str | None) -> Found:
    reader = dataset.reader
    kind = type(reader).__name__
    if kind not in ("ReaderImageFolder", "ReaderHfds"):
        raise Unlike(f"the ImageDataset reads by {kind}, and not from folders or a Dataset of Hugging Face")
    if dataset.input_img_mode != "RGB":
        raise Unlike(f"the ImageDataset makes images of mode {dataset.input_img_mode}, not RGB")
    if getattr(dataset, "additional_features", None):
        raise Unlike("the ImageDataset yields further features")
    if kind == "ReaderHfds":
        return found_in_reader(dataset, reader, directory)
    return found_in_place(dataset, reader.root, reader.samples, dataset.transform, directory)


def _cifar(dataset: Any, collate: Any, directory: str | None) -> Found:
    kind = "cifar100" if type(dataset).__name__ == "CIFAR100" else "cifar10"
    if type(dataset).__name__ not in ("CIFAR10", "CIFAR100"):
        raise Unlike(f"{type(dataset).__name__} is a CIFAR of your own")
    return _in_memory(dataset, kind, os.path.join(dataset.root, dataset.base_folder), directory)


def _mnist(dataset: Any, collate: Any, directory: str | None) -> Found:
    if type(dataset).__name__ not in ("MNIST", "FashionMNIST", "KMNIST"):
        raise Unlike(f"{type(dataset).__name__} has other files than MNIST")
    return _in_memory(dataset, "mnist", dataset.raw_folder, directory)


def _in_memory(dataset: Any, source: str, place: str, directory: str | None) -> Found:
    """A dataset that theirs keeps in memory: converted, and compared, since a script may have changed it."""
    import numpy
    from PIL import Image

    split = "train" if dataset.train else "test"
    ours = made_in(directory, source, lambda out: converted(out, source, place, split))
    pixels = dataset.data
    if len(ours) != len(pixels) or ours.targets != [int(one) for one in dataset.targets]:
        raise Unlike(f"the {type(dataset).__name__} no longer holds the images and labels of its files")
    at = 0
    for batch in Loader(ours, "none", batch=1000, shuffle=False, threads=1):
        images = numpy.asarray(batch.images)
        theirs = numpy.asarray(pixels[at : at + len(images)])
        at += len(images)
        if not numpy.array_equal(images.reshape(theirs.shape), theirs):
            raise Unlike(f"the {type(dataset).__name__} no longer holds the images of its files")

    def load(index: int) -> Any:
        return Image.fromarray(numpy.asarray(pixels[index]))

    return Found(Source(ours, dataset, None), dataset.transform, None, load)
