"""`feedrate convert samples` at work: the program that encodes and writes what this process sends."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import tempfile
from multiprocessing.connection import Connection, Pipe
from typing import TYPE_CHECKING, Any, Sequence, cast

from feedrate._commands import words
from feedrate._errors import DataError
from feedrate._program import program
from feedrate._samples import Frame

if TYPE_CHECKING:
    from feedrate._json import Convert

_MISUSED = 2  # exit code of the program
_NUMBER_BYTES = 8
_PIPE_BYTES = 1 << 20  # so that a process makes its next sample while this one waits to be read
_HELD_BYTES = 1 << 16  # small frames that go through a pipe together


class Description:
    """What the program has to know before the first sample comes."""

    def __init__(self, split: str, classes: int | Sequence[str] | None, origin: str) -> None:
        names = [] if classes is None or isinstance(classes, int) else list(classes)
        self.count = classes if isinstance(classes, int) else len(names)
        self.values: dict[str, Any] = {
            "split": split,
            "origin": origin,
            "classes": self.count,
            "class_names": names,
        }

    def begin(self, first: Frame, samples: int) -> None:
        """`samples`: how many there are; 0 where nobody knows. With the first one, they tell whether another
        call writes the same: that is what resuming needs."""
        digest = hashlib.blake2b(first.head + first.image, digest_size=16).hexdigest()
        self.values["pixels"] = first.pixels
        self.values["samples"] = samples
        self.values["identity"] = f"blake2b:{digest} of the first of {samples or 'some'}"


class Converter:
    """The program, and the pipes to it."""

    def __init__(self, options: dict[str, object], description: Description, senders: int) -> None:
        data = [Pipe(duplex=False) for _ in range(senders)]
        self.asks, asked = Pipe(duplex=False)
        self.pipes = [to for _, to in data]
        for pipe in self.pipes:
            _widen(pipe)
        self._printed, self._said = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        with tempfile.TemporaryFile() as file:
            names = [f"/proc/self/fd/{of.fileno()}" for of in (asked, *(of for of, _ in data))]
            values = {**description.values, "asks": names[0], "pipes": names[1:]}
            file.write(json.dumps(values).encode())
            file.flush()
            inherited = [asked, file, *(of for of, _ in data)]
            self._process = subprocess.Popen(
                [program(), "convert", *words(options), "--json", "--", "samples"]
                + [f"/proc/self/fd/{file.fileno()}"],
                stdin=subprocess.DEVNULL,
                stdout=self._printed,
                stderr=self._said,
                pass_fds=[one.fileno() for one in inherited],
            )
        for one in (asked, *(of for of, _ in data)):
            one.close()

    def first_wanted(self) -> int | None:
        """The index of the first sample that it wants; None where it wants none: it failed, or was done."""
        number = b""
        while len(number) < _NUMBER_BYTES:
            more = os.read(self.asks.fileno(), _NUMBER_BYTES - len(number))
            if not more:
                return None
            number += more
        return int.from_bytes(number, "little")

    def close_pipes(self) -> None:
        """Where the program has not been told that all is sent, it keeps what it has and ends."""
        for pipe in self.pipes:
            pipe.close()

    def result(self) -> Convert:
        """What it printed, once it has ended."""
        code, printed, said = self.wait()
        said = said.strip().removeprefix("feedrate convert: ")
        if code == _MISUSED:
            raise ValueError(said)
        if code != 0:
            raise DataError(said or f"feedrate convert ended with code {code}")
        return cast("Convert", json.loads(printed))

    def wait(self) -> tuple[int, str, str]:
        """Its exit code, and what it wrote to stdout and stderr."""
        code = self._process.wait()
        self.asks.close()
        texts = []
        for file in (self._printed, self._said):
            with file:
                file.seek(0)
                texts.append(file.read().decode(errors="surrogateescape"))
        return code, texts[0], texts[1]


def _widen(pipe: Connection) -> None:
    with contextlib.suppress(ImportError, AttributeError, OSError):  # the system sets a limit
        import fcntl

        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


class Channel:
    """Frames on their way through one pipe. The program may want no more of them: it has failed, or has
    all that it was asked for; `wanted` says so.

    What it holds is never written by a destructor, as that of a buffered file does: by then the pipe is
    closed, and its number may be that of a file of the caller."""

    def __init__(self, pipe: Connection) -> None:
        self._number = pipe.fileno()
        self._held = bytearray()
        self.wanted = True

    def send(self, *parts: bytes) -> None:
        for part in parts:
            if len(self._held) + len(part) > _HELD_BYTES:
                self.flush()
            if len(part) > _HELD_BYTES:
                self._write(part)
            else:
                self._held += part

    def flush(self) -> None:
        held, self._held = self._held, bytearray()
        self._write(held)

    def _write(self, part: bytes | bytearray) -> None:
        left = memoryview(part)
        try:
            while left and self.wanted:
                left = left[os.write(self._number, left) :]
        except BrokenPipeError:
            self.wanted = False
