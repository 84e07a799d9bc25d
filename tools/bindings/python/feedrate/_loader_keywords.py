"""For type checkers: the keyword arguments of `feedrate.Loader` that do not change what it yields."""

from __future__ import annotations

from typing import Iterable, Literal, TypedDict

from feedrate._keywords import LoaderKeywords


class PickKeywords(TypedDict, total=False):
    order: Iterable[int] | None
    weights: Iterable[float] | Literal["balanced"] | None
    groups: tuple[int, int] | None
    draws: int | None


class LoaderOptions(LoaderKeywords, PickKeywords, total=False):
    """Settings of the table, and what an epoch holds."""
