"""Commands of the program, called from Python: what they print with --json is what they return."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Sequence, Union, cast

from feedrate._data import as_dataset_path
from feedrate._errors import DataError
from feedrate._program import program

if TYPE_CHECKING:
    from feedrate._json import Advise, Convert, Inspect, Verify

_Path = Union[str, "os.PathLike[str]"]

_FAILED, _MISUSED = 1, 2  # exit codes of the program


def _text(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text, value))
    return os.fsdecode(value) if isinstance(value, (os.PathLike, bytes)) else str(value)


def words(options: dict[str, object]) -> list[str]:
    words: list[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words += [option, _text(value)]
    return words


def _run(
    command: str, places: Sequence[_Path], options: dict[str, object], *first: str
) -> object:
    names = [as_dataset_path(place) for place in places]
    done = subprocess.run(
        [program(), command, *words(options), "--json", "--", *first, *names],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",  # of names that are not UTF-8
    )
    # A command that looked and found faults prints them and fails.
    if done.returncode in (0, _FAILED) and done.stdout:
        return cast(object, json.loads(done.stdout))
    said = done.stderr.strip().removeprefix(f"feedrate {command}: ")
    if done.returncode == _MISUSED:
        raise ValueError(said)
    raise DataError(said or f"feedrate {command} ended with code {done.returncode}")


def convert(source: str, *archives: _Path, to: str, out: _Path, **options: object) -> Convert:
    """Converts published archives, or a dataset, into a dataset: `feedrate convert`.

    Args:
        source: mnist, cifar10, cifar100, imagenet, folder or dataset.
        archives: the files or directories that hold it; of a dataset, several are read as one set.
        to: the format: lmdb, recordio, tfrecord, png-map, webdataset or folder.
        out: a directory, which appears when it is complete.
        options: the command's other options, as in `encode="jpeg:90", shards=4, shuffle=1`; True
            sets a flag. `feedrate help convert` lists them.

    Returns source, format, codec and a list of splits, each with path, samples, bytes, digest: see
    `feedrate schema convert --markdown`. Raises FileNotFoundError, ValueError for options and DataError for data."""
    return cast("Convert", _run("convert", archives, {"to": to, "out": out, **options}, source))


def verify(path: _Path, **options: object) -> Verify:
    """Reads, checks and decodes every sample: `feedrate verify`, as in `against="other"`.

    Returns digests, counts and `findings`, a list of faults: empty where all is well. Raises
    FileNotFoundError, ValueError for options and DataError where there is no dataset."""
    return cast("Verify", _run("verify", [path], options))


def inspect(path: _Path, **options: object) -> Inspect:
    """What a dataset holds: counts, classes, sizes: `feedrate inspect`, as in `sheet="sheet.png"`.

    Raises FileNotFoundError, ValueError for options and DataError for data."""
    return cast("Inspect", _run("inspect", [path], options))


def advise(path: _Path, **options: object) -> Advise:
    """How many loader threads, and which conversion, would keep a device fed: `feedrate advise`.

    As in `target=3000, recipe="imagenet-train", seconds=60`. Measures for that long. Raises
    FileNotFoundError, ValueError for options and DataError for data."""
    return cast("Advise", _run("advise", [path], options))
