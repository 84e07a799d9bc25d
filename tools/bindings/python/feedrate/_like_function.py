"""What a function of a script's own does with pictures, seen by calling it.

Whatever it does: where the Compose that it calls gets each picture as it is, in their order, and what the Compose gives
comes out in one column, that Compose is all that becomes of a picture."""

from __future__ import annotations

import contextlib
import functools
import gc
import random
import sys
import threading
import weakref
from collections.abc import Mapping
from typing import Any, Callable, Iterator, NamedTuple

import torch

from feedrate._like_steps import Unlike
from feedrate._like_transforms import is_sequence, plan_of

CALLED_WITH = 1000
"""Rows of a table at once, with small pictures."""
_SMALL = (4, 3)
_FIRST_MARK = torch.arange(12.0).reshape(3, 2, 2)


class Calls:
    """The pictures that Composes got, and which of them. Each gives a mark back in place of a tensor."""

    def __init__(self) -> None:
        self.pictures: list[Any] = []
        self.by: list[Any] = []
        self.marks: list[torch.Tensor] = []

    def take(self, compose: Any, picture: Any, call: Callable[[], Any]) -> torch.Tensor:
        picture.load()  # before its file is closed
        self.by.append(compose)
        self.pictures.append(picture)
        self.marks.append(mark(len(self.marks)))
        return self.marks[-1]


    def clear(self) -> None:
        for one in self.pictures, self.by, self.marks:
            one.clear()


def small(mode: str, number: int) -> Any:
    """No other's picture of those with near numbers, and another one when it is turned, blurred or cut."""
    from PIL import Image

    at, size = number % CALLED_WITH, _SMALL[0] * _SMALL[1] * len(mode)
    return Image.frombytes(mode, _SMALL, _noise()[at : at + size])


@functools.lru_cache(maxsize=None)
def _noise() -> bytes:
    return random.Random(0).randbytes(2 * CALLED_WITH)


def are_equal(one: Any, other: Any) -> bool:
    """Of two pictures."""
    return (one.mode, one.size) == (other.mode, other.size) and one.tobytes() == other.tobytes()


def mark(number: int) -> torch.Tensor:
    """No other's, and turned or with its channels in another order, none at all."""
    return _FIRST_MARK + 12 * number


def is_mark(value: Any, number: int) -> bool:
    return bool(torch.equal(value, mark(number)))


class Seen(NamedTuple):
    """What came out of the function."""

    pictures: list[Any]  # that a Compose got
    by: Any  # which Compose; None where there were no pictures
    image: str  # the column of what the Compose gave
    columns: dict[str, list[Any]]


@contextlib.contextmanager
def watched() -> Iterator[Calls]:
    """Within, a Compose that is called by this thread with a picture notes that, and does nothing else."""
    calls = Calls()
    with _taken_by(calls.take):
        yield calls


def expect_forgets(read: Callable[[], Any]) -> None:
    """Raises Unlike where a call that is as theirs leaves its picture, or what the Compose made of it, in the hands
    of the function: of those, a script would find the marks later."""
    held: list[weakref.ref[Any]] = []

    def take(compose: Any, picture: Any, call: Callable[[], Any]) -> Any:
        given = call()
        for one in picture, given:
            with contextlib.suppress(TypeError):  # of a type that nothing can point to weakly
                held.append(weakref.ref(one))
        return given

    with _taken_by(take):
        read()
    if any(one() is not None for one in held):
        gc.collect()
        if any(one() is not None for one in held):
            raise Unlike("its transform keeps images of one call for others")


@contextlib.contextmanager
def _taken_by(take: Callable[[Any, Any, Callable[[], Any]], Any]) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for kind, name in _sequences():
            stack.enter_context(_method_taken_by(kind, name, take))
        yield


def _sequences() -> Iterator[tuple[Any, str]]:
    """The classes of Composes, and by which method each is called."""
    yield torch.nn.Sequential, "forward"
    for module, name in ("torchvision.transforms", "__call__"), ("torchvision.transforms.v2", "forward"):
        if module in sys.modules:
            yield sys.modules[module].Compose, name


@contextlib.contextmanager
def _method_taken_by(kind: Any, name: str, take: Callable[[Any, Any, Callable[[], Any]], Any]) -> Iterator[None]:
    from PIL import Image

    called, thread = vars(kind)[name], threading.get_ident()

    def method(self: Any, *given: Any, **named: Any) -> Any:
        is_picture = len(given) == 1 and isinstance(given[0], Image.Image)
        if is_picture and is_sequence(self) and threading.get_ident() == thread:
            return take(self, given[0], lambda: called(self, *given, **named))
        return called(self, *given, **named)

    setattr(kind, name, method)
    try:
        yield
    finally:
        setattr(kind, name, called)


def seen_in(columns: Any, calls: Calls, count: int) -> Seen:
    """Of one call of the function with so many pictures. Raises Unlike where something else became of them."""
    if not isinstance(columns, Mapping):
        raise Unlike(f"its transform returns {type(columns).__name__}, and no columns")
    if count and not calls.pictures:
        raise Unlike("its transform calls no Compose with an image")
    if len(calls.pictures) != count:
        raise Unlike(f"its transform calls a Compose {len(calls.pictures)} times for {count} images")
    if len({id(one) for one in calls.by}) > 1:
        raise Unlike("its transform calls several Composes")
    listed = {name: list(values) for name, values in columns.items()}
    images = [name for name, values in columns.items() if _are_marks(values, calls.marks)]
    if len(images) != 1:
        raise Unlike("what its Compose gives is not what its transform returns")
    return Seen(calls.pictures, calls.by[0] if calls.by else None, images[0], listed)


def _are_marks(values: Any, marks: list[torch.Tensor]) -> bool:
    as_made = [mark(number) for number in range(len(marks))]
    if isinstance(values, torch.Tensor):
        return bool(marks) and values.dtype == marks[0].dtype and torch.equal(values, torch.stack(as_made))
    if len(values) != len(marks) or any(value is not one for value, one in zip(values, marks)):
        return False
    return all(map(torch.equal, marks, as_made))  # or the function has changed them in place


def are_alike(one: Any, other: Any) -> bool:
    """Whether two Composes are one, or made alike."""
    if one is other:
        return True
    plans = [plan_of(compose, None) for compose in (one, other)]
    return len({(plan.recipe, plan.pixels, *plan.mean, *plan.deviation) for plan in plans}) == 1
