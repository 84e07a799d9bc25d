"""Runs commands within what is left of the budget. A command that takes too long is ended with all
that it started."""

import concurrent.futures
import os
import signal
import subprocess
import sys
import time

from guard import Guard
from journal import append

GRACE = 5  # seconds to end by oneself after SIGTERM
OVER = "the minutes were over"
MAX_WORDS = 2000  # characters of an error


class Problem(Exception):
    """An error, as a sentence for the user."""


class Failed(Exception):
    """A step that ran and failed, with the reason and what it found all the same."""

    def __init__(self, reason, facts=None):
        super().__init__(reason)
        self.facts = facts or {}


class Absent(Exception):
    """A step that cannot run on this machine, with the reason."""


class Cut(Exception):
    """A step that was ended before its end, with the reason and what it found before."""

    def __init__(self, reason=OVER, facts=None):
        super().__init__(reason)
        self.facts = facts or {}


class Finished:
    def __init__(self, code, output, errors, late=None):
        self.code, self.output, self.errors = code, output, errors
        self.late = late  # why it was ended; None: it ended by itself

    def last_words(self):
        """The last line that is no advice: the program's errors start with its name."""
        lines = [line.strip() for line in (self.errors or self.output).splitlines() if line.strip()]
        own = [line for line in lines if line.startswith("feedrate ")]
        return (own or lines or [f"exit code {self.code}, without a word"])[-1][:MAX_WORDS]


class Budget:
    guard = Guard()  # of all calls of a process

    def __init__(self, minutes):
        self.start = self.now()
        self.end = self.start + 60 * minutes
        self.running = set()

    def now(self):
        return time.monotonic()

    def since_start(self):
        return self.now() - self.start

    def left(self):
        return self.end - self.now() - GRACE

    def attempt(self, words, environment, limit, log):
        """Throws Cut where no time is left; otherwise tells, by Finished, whether it ended."""
        seconds = min(limit, self.left())
        if seconds <= 0:
            raise Cut
        words = [str(word) for word in words]
        late, code, output, errors = self.execute(words, environment, seconds)
        append(log, f"$ {' '.join(words)}\n{output}{errors}\nexit code {code}\n\n")
        reason = f"took longer than {limit:.0f} s; see {log.name}" if seconds == limit else OVER
        return Finished(code, output, errors, reason if late else None)

    def execute(self, words, environment, seconds):
        process = subprocess.Popen(words, env=os.environ | environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   errors="replace", start_new_session=True)
        late = False
        self.running.add(process)
        self.guard.begin(process.pid)
        try:
            output, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            late = True
            output, errors = end(process)
        except BaseException:  # the user's Ctrl-C
            end(process)
            raise
        finally:
            self.running.discard(process)
            self.guard.end(process.pid)
        return late, process.returncode, output, errors

    def together(self, jobs, at_once):
        """The results of functions, so many of which run at a time, in order."""
        pool = concurrent.futures.ThreadPoolExecutor(at_once)
        try:
            return list(pool.map(lambda job: job(), jobs))
        finally:
            if sys.exc_info()[0]:
                pool.shutdown(wait=False, cancel_futures=True)
                for process in list(self.running):
                    send(process, signal.SIGKILL)  # its own thread takes what it said
            pool.shutdown()


def end(process):
    """What it has said. A process that waits for a device that hangs may not end at all."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        send(process, how)
        try:
            return process.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired as waiting:
            said = [text(part) for part in (waiting.output, waiting.stderr)]
    return said


def send(process, how):
    try:
        os.killpg(process.pid, how)
    except ProcessLookupError:
        pass


def text(part):
    return part.decode(errors="replace") if isinstance(part, bytes) else part or ""
