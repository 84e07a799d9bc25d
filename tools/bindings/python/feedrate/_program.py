"""Finds and starts the program `feedrate` that comes with the package."""

from __future__ import annotations

import os
import sys


def program() -> str:
    """The path of the program."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "feedrate")


def main() -> None:
    """Becomes the program, with this process's arguments."""
    path = program()
    os.execv(path, [path, *sys.argv[1:]])
