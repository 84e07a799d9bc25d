"""Processes that make samples side by side, each every so-many-th one, and send them to the program."""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import signal
import time
import traceback
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from feedrate._converter import Channel, Converter
from feedrate._samples import END, expect_kind, frame, of_item


_LOOK_SECONDS = 1  # between two looks whether the parent lives


class Work(NamedTuple):
    """What each of the processes gets."""

    samples: Any  # with a length and indices
    columns: tuple[str, str]
    classes: int
    pixels: bool


def expect_main_process() -> None:
    """A process that is being started runs the main script again: there it must not write once more."""
    if getattr(multiprocessing.process.current_process(), "_inheriting", False):
        raise RuntimeError(
            "feedrate.write() is called again while a process of it is started, which runs the script anew: "
            "put the call under  if __name__ == '__main__':"
        )


class _Elsewhere(Exception):
    """The traceback of an exception in another process, as its cause."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def _make(work: Work, indices: range, pipe: Connection) -> None:
    channel = Channel(pipe)
    parent = multiprocessing.parent_process()
    looked = time.monotonic()
    for index in indices:
        with of_item(index):
            item = work.samples[index]
        one = frame(index, item, work.columns, work.classes)
        expect_kind(index, one, work.pixels)
        channel.send(one.head, one.image)
        if not channel.wanted:
            return
        if parent is not None and time.monotonic() > looked + _LOOK_SECONDS:
            looked = time.monotonic()
            if not parent.is_alive():
                return  # without the end: it may be started again, to go on
    channel.send(END)
    channel.flush()


def _run(work: Work, indices: range, pipe: Connection, report: Connection, others: list[Connection]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    for other in others:
        other.close()
    said = None
    try:
        _make(work, indices, pipe)
    except Exception as error:
        said = (_portable(error), traceback.format_exc())
    with contextlib.suppress(BrokenPipeError):  # who started this process is gone
        report.send(said)


def _portable(error: Exception) -> Exception:
    """An exception that can be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")


def send_by_processes(work: Work, start: int, converter: Converter) -> None:
    """Returns once all is sent, or the program has ended. Raises what a process raised."""
    context = multiprocessing.get_context()
    forks = context.get_start_method() == "fork"
    count, size = len(converter.pipes), len(work.samples)
    reports = [context.Pipe(duplex=False) for _ in range(count)]
    ours = [one for one, _ in reports]
    processes = []
    try:
        for turn, pipe in enumerate(converter.pipes):
            # A fork has every pipe, and would keep it open when the process that writes it is gone.
            others = [one for one in (*converter.pipes[turn + 1 :], *ours) if forks]
            given = (work, range(start + turn, size, count), pipe, reports[turn][1], others)
            process = context.Process(target=_run, args=given, daemon=True)
            process.start()
            processes.append(process)
            pipe.close()
            reports[turn][1].close()
        _watch(ours, processes)
    except BaseException:
        for process in processes:
            process.terminate()
        raise
    finally:
        for process in processes:
            process.join()
        for report in ours:
            report.close()


def _watch(reports: list[Connection], processes: list[Any]) -> None:
    """Waits until each has said that it is done, or raises what one said. Where the program has ended, they
    notice that at their next sample."""
    left = list(reports)
    while left:
        for report in wait(left):
            left = [one for one in left if one is not report]
            try:
                said = report.recv()  # type: ignore[union-attr]
            except EOFError:
                raise RuntimeError(_reason(processes[reports.index(report)])) from None
            if said is not None:
                error, text = said
                raise error from _Elsewhere(text)


def _reason(process: Any) -> str:
    """Why a process has gone without a word."""
    process.join()
    if process.exitcode is not None and process.exitcode >= 0:
        return (
            f"a process that makes samples could not be started, or left by itself (code {process.exitcode}): "
            "what it wrote to stderr says why; with spawn and forkserver the script that calls feedrate.write() "
            "needs  if __name__ == '__main__':"
        )
    return "a process that makes samples was killed; is there memory for so many of them?"
