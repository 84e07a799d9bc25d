"""The settings of loaders, as the library's table has them: signatures and documentation."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any, Callable, Literal, Sequence, TypeVar, cast

from feedrate import _native

_Function = TypeVar("_Function", bound=Callable[..., Any])

SETTINGS: dict[str, dict[str, Any]] = {row["name"]: row for row in cast(Any, _native.settings())}
REMOTE_SETTINGS: dict[str, dict[str, Any]] = {row["name"]: row for row in cast(Any, _native.remote_settings())}

# A loader of epochs has these in a way of its own.
OF_RUNS = ("batch", "decode", "epochs", "rank", "ranks", "seed")


def takes_settings(
    without: Sequence[str] = (), table: dict[str, dict[str, Any]] = SETTINGS, returns: Any = None
) -> Callable[[_Function], _Function]:
    """A decorator that makes the settings of the table out of a function's `**settings`, but for those
    that it has itself: in its signature and in its documentation."""

    def described(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
        rows = [
            row
            for name, row in table.items()
            if name not in signature.parameters and name not in without
        ]
        own += map(_parameter, rows)
        function.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
        first = 1 if own[0].name == "self" else 0
        function.__annotations__ = {one.name: one.annotation for one in own[first:]} | {"return": returns}
        lines = [inspect.cleandoc(function.__doc__ or ""), *map(_described, rows)]
        function.__doc__ = "\n".join(lines)
        return function

    return described


def _parameter(row: dict[str, Any]) -> inspect.Parameter:
    return inspect.Parameter(
        row["name"],
        inspect.Parameter.KEYWORD_ONLY,
        default=row["default"],
        annotation=eval(row["type"], {"Literal": Literal, "Sequence": Sequence}),
    )


def _described(row: dict[str, Any]) -> str:
    limits = f" ({row['min']:,} to {row['max']:,})" if "max" in row else ""
    return textwrap.fill(
        f"{row['name']}: {row['sentence']}{limits}. {row['detail']}",
        width=100,
        initial_indent=" " * 4,
        subsequent_indent=" " * 8,
    )
