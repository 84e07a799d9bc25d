"""What a function of a script's own does with pictures, seen by calling it.

Whatever it does: where the Compose that it calls gets each picture as it is, in their order, and what the Compose gives
comes out in one column, that Compose is all that becomes of a picture."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Mapping
from typing import Any, Callable, Iterable, Iterator, NamedTuple

import torch

from feedrate._like_transforms import Unlike, is_sequence

_DEPTH = 6  # from the function to a Compose: closures, arguments, objects and their members
_MOST = 10_000  # objects that are looked at on the way


class Calls:
    """The pictures that Composes got, and which of them. Each gets a mark back in place of a tensor."""

    def __init__(self) -> None:
        self.pictures: list[Any] = []
        self.by: list[Any] = []

    def take(self, compose: Any, picture: Any) -> torch.Tensor:
        self.by.append(compose)
        self.pictures.append(picture)
        return self.mark(len(self.pictures) - 1)

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def mark(number: int) -> torch.Tensor:
        """Of the call of this number: the same object each time."""
        return torch.full((3, 2, 2), float(number))


class Seen(NamedTuple):
    """What came out of the function."""

    pictures: list[Any]  # that a Compose got
    image: str  # the column of what the Compose gave
    columns: dict[str, list[Any]]


def composes_of(function: Any) -> list[Any]:
    """The Composes that it can reach: in its closure, the globals that it names, its arguments and its object."""
    found: list[Any] = []
    seen: dict[int, Any] = {}
    near = [function]
    for _ in range(_DEPTH):
        far: list[Any] = []
        for one in near:
            if id(one) in seen or len(seen) > _MOST:
                continue
            seen[id(one)] = one
            if is_sequence(one):
                found.append(one)
            else:
                far += _reached_from(one)
        near = far
    return found


def _reached_from(one: Any) -> Iterable[Any]:
    if isinstance(one, types.FunctionType):
        names = set(_names_in(one.__code__))
        named = [one.__globals__[name] for name in names if name in one.__globals__]
        for module in [value for value in named if isinstance(value, types.ModuleType)]:
            named += [vars(module)[name] for name in names if name in vars(module)]
        for cell in one.__closure__ or ():
            with contextlib.suppress(ValueError):  # it is empty
                named.append(cell.cell_contents)
        return [*named, *(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]
    if isinstance(one, types.MethodType):
        return [one.__func__, one.__self__]
    if isinstance(one, functools.partial):
        return [one.func, *one.args, *one.keywords.values()]
    if isinstance(one, dict):
        return list(one.values())
    if isinstance(one, (list, tuple, set)):
        return list(one)
    if isinstance(one, (type, types.ModuleType, torch.Tensor)):
        return []
    members = dict(vars(type(one))) if type(one).__module__ != "builtins" else {}
    return [*members.values(), *getattr(one, "__dict__", {}).values()]


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


@contextlib.contextmanager
def watched(composes: list[Any]) -> Iterator[Calls]:
    """Within, they note what they are called with, and do nothing else."""
    calls = Calls()
    with contextlib.ExitStack() as stack:
        for compose in composes:
            stack.enter_context(_in_place_of(compose, functools.partial(calls.take, compose)))
        yield calls


@contextlib.contextmanager
def _in_place_of(compose: Any, take: Callable[[Any], Any]) -> Iterator[None]:
    members = compose.__dict__
    if "transforms" not in members:  # a Sequential
        members["forward"] = take
        try:
            yield
        finally:
            del members["forward"]
        return
    transforms = members["transforms"]
    members["transforms"] = [take]
    try:
        yield
    finally:
        members["transforms"] = transforms


def seen_in(columns: Any, calls: Calls, count: int) -> Seen:
    """Of one call of the function with so many pictures. Raises Unlike where something else became of them."""
    if not isinstance(columns, Mapping):
        raise Unlike(f"its transform returns {type(columns).__name__}, and no columns")
    if len(calls.pictures) != count:
        raise Unlike(f"its transform calls a Compose {len(calls.pictures)} times for {count} images")
    if len({id(one) for one in calls.by}) > 1:
        raise Unlike("its transform calls several Composes")
    listed = {name: list(values) for name, values in columns.items()}
    images = [name for name, values in listed.items() if _are_marks(values, count)]
    if len(images) != 1:
        raise Unlike("what its Compose gives is not what its transform returns")
    return Seen(calls.pictures, images[0], listed)


def _are_marks(values: list[Any], count: int) -> bool:
    return len(values) == count and all(value is Calls.mark(number) for number, value in enumerate(values))
