"""Datasets of torchvision's and timm's, as datasets of ours: read in place, or converted."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from typing import Any, Iterable, NamedTuple

from torch.utils import data

from feedrate import _data, _native
from feedrate._commands import convert
from feedrate._like_transforms import Unlike
from feedrate._loader import Loader
from feedrate._torch_names import Source, _chosen, indices_of


class Found(NamedTuple):
    """A dataset of ours, and what theirs does with an image."""

    source: Source
    transform: Any
    channels: int | None  # that theirs makes of every image; None: as it is stored
    load: Any  # index of the whole dataset -> the image, as theirs gives it to its transform
    place: str  # what to write in a script


def found_in(dataset: Any, directory: str | None) -> Found:
    """Of a dataset of a known kind. Raises Unlike for another."""
    within: list[int] | None = None
    inner = dataset
    while type(inner) is data.Subset:
        within = _chosen(indices_of(inner.indices, "Subset"), within)
        inner = inner.dataset
    name = type(inner).__name__
    for kind, find in _kinds():
        # One of their subclasses may read as they do, such as ImageNet, or otherwise.
        if isinstance(inner, kind) and type(inner).__getitem__ is kind.__getitem__:
            if getattr(inner, "target_transform", None) is not None:
                raise Unlike(f"the {name} has a target_transform")
            found: Found = find(inner, directory)
            ours, listed = found.source.dataset, found.source.within
            chosen = listed if within is None else within if listed is None else _chosen(listed, within)
            return found._replace(source=Source(ours, dataset, chosen))
    if type(inner).__module__.startswith("datasets."):
        # Its images pass through a function of the script's own, of which nobody knows what it does to a batch.
        raise Unlike(
            f"the {name} of Hugging Face calls a function of yours for its transforms; write(PATH, dataset) converts "
            "it, and Parquet files of the Hub are read where they lie"
        )
    if isinstance(inner, data.IterableDataset):
        raise Unlike(f"{name} yields its samples in an order of its own")
    raise Unlike(f"{name} is no ImageFolder, CIFAR or MNIST of torchvision, and no ImageDataset of timm")


def _kinds() -> Iterable[tuple[Any, Any]]:
    vision: Any = sys.modules.get("torchvision.datasets")
    if vision is not None:
        yield vision.DatasetFolder, _folder
        yield vision.CIFAR10, _cifar
        yield vision.MNIST, _mnist
    timm: Any = sys.modules.get("timm.data.dataset")
    if timm is not None:
        yield timm.ImageDataset, _timm


def _folder(folder: Any, directory: str | None) -> Found:
    vision: Any = sys.modules["torchvision.datasets.folder"]
    name = type(folder).__name__
    if folder.loader not in (vision.default_loader, vision.pil_loader):
        raise Unlike(f"the {name} has a loader of its own")
    if folder.loader is vision.default_loader and sys.modules["torchvision"].get_image_backend() != "PIL":
        raise Unlike(f"the {name} loads with another backend than PIL")
    root = getattr(folder, "split_folder", folder.root)  # the former: torchvision's ImageNet
    return _in_place(folder, root, folder.samples, directory)


def _timm(dataset: Any, directory: str | None) -> Found:
    reader = dataset.reader
    if type(reader).__name__ != "ReaderImageFolder":
        raise Unlike(f"the ImageDataset reads by {type(reader).__name__}, and not from folders")
    if dataset.input_img_mode != "RGB":
        raise Unlike(f"the ImageDataset makes images of mode {dataset.input_img_mode}, not RGB")
    if getattr(dataset, "additional_features", None):
        raise Unlike("the ImageDataset yields further features")
    return _in_place(dataset, reader.root, reader.samples, directory)


def _in_place(theirs: Any, root: Any, samples: list[tuple[str, int]], directory: str | None) -> Found:
    """A folder, read where it lies, or after it was converted."""
    place = os.path.abspath(os.fspath(root))
    ours = _data.opened(place)
    places = {ours._native.place(index)[0]: index for index in range(len(ours))}
    targets, listed = ours.targets, []
    for path, label in samples:
        index = places.get(os.path.abspath(path))
        if index is None:
            raise Unlike(f"Feedrate does not find {path} in {place}")
        if targets[index] != label:
            raise Unlike(f"{path} is of class {label} there and of {targets[index]} here")
        listed.append(index)
    paths = {index: path for (path, _), index in zip(samples, listed)}
    if directory is not None:
        made = _converted(directory, "folder", place)
        if made.targets != targets:
            raise Unlike(f"{directory} is no conversion of {place}")
        ours, place = made, directory

    def load(index: int) -> Any:
        from PIL import Image

        with open(paths[index], "rb") as file:
            return Image.open(file).convert("RGB")

    within = None if listed == list(range(len(ours))) else listed
    return Found(Source(ours, theirs, within), theirs.transform, 3, load, place)


def _cifar(dataset: Any, directory: str | None) -> Found:
    kind = "cifar100" if type(dataset).__name__ == "CIFAR100" else "cifar10"
    if type(dataset).__name__ not in ("CIFAR10", "CIFAR100"):
        raise Unlike(f"{type(dataset).__name__} is a CIFAR of your own")
    return _in_memory(dataset, kind, os.path.join(dataset.root, dataset.base_folder), directory)


def _mnist(dataset: Any, directory: str | None) -> Found:
    if type(dataset).__name__ not in ("MNIST", "FashionMNIST", "KMNIST"):
        raise Unlike(f"{type(dataset).__name__} has other files than MNIST")
    return _in_memory(dataset, "mnist", dataset.raw_folder, directory)


def _in_memory(dataset: Any, source: str, place: str, directory: str | None) -> Found:
    """A dataset that theirs keeps in memory: converted, and compared, since a script may have changed it."""
    from PIL import Image

    own = tempfile.mkdtemp(prefix="feedrate-") if directory is None else None
    out = directory if own is None else os.path.join(own, source)
    split = "train" if dataset.train else "test"
    try:
        ours = _converted(out, source, place, split)
    except BaseException:
        if own is not None:
            shutil.rmtree(own)
        raise
    if own is not None:
        weakref.finalize(ours, shutil.rmtree, own, True)
    pixels = dataset.data
    if len(ours) != len(pixels) or ours.targets != [int(one) for one in dataset.targets]:
        raise Unlike(f"the {type(dataset).__name__} no longer holds the images and labels of its files")
    import numpy

    at = 0
    for batch in Loader(ours, "none", batch=1000, shuffle=False, threads=1):
        images = numpy.asarray(batch.images)
        theirs = numpy.asarray(pixels[at : at + len(images)])
        at += len(images)
        if not numpy.array_equal(images.reshape(theirs.shape), theirs):
            raise Unlike(f"the {type(dataset).__name__} no longer holds the images of its files")

    def load(index: int) -> Any:
        return Image.fromarray(numpy.asarray(pixels[index]))

    return Found(Source(ours, dataset, None), dataset.transform, None, load, os.path.join(out, split))


def _converted(out: str, source: str, place: str, split: str | None = None) -> _data.Dataset:
    """The dataset that is at `out`, or is made there: small images as they are, in LMDB, and others as they
    are, in RecordIO."""
    made = out if split is None else os.path.join(out, split)
    if not os.path.exists(made):
        if split is None:
            convert(source, place, to="recordio", out=out)
        else:
            convert(source, place, to="lmdb", out=out, split="all", encode="raw")
    return _data.opened(made)
