"""Runs commands within what is left of the budget. A command that takes too long is ended with all
that it started."""

import os
import signal
import subprocess
import time

GRACE = 5  # seconds to end by oneself after SIGTERM


class Problem(Exception):
    """An error, as a sentence for the user."""


class Failed(Exception):
    """A step that ran and failed, with the reason."""


class Absent(Exception):
    """A step that cannot run on this machine, with the reason."""


class Cut(Exception):
    """A step for which no time was left."""


class Finished:
    def __init__(self, code, output, errors):
        self.code, self.output, self.errors = code, output, errors

    def last_words(self):
        """The last line that is no advice: the program's errors start with its name."""
        lines = [line.strip() for line in (self.errors or self.output).splitlines() if line.strip()]
        own = [line for line in lines if line.startswith("feedrate ")]
        return (own or lines or [f"exit code {self.code}, without a word"])[-1]


class Budget:
    def __init__(self, minutes):
        self.end = time.monotonic() + 60 * minutes

    def left(self):
        return self.end - time.monotonic() - GRACE

    def run(self, words, environment, limit, log):
        """Throws Failed after `limit` seconds, Cut if the budget ends before."""
        seconds = min(limit, self.left())
        if seconds <= 0:
            raise Cut
        words = [str(word) for word in words]
        process = subprocess.Popen(words, env=os.environ | environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   errors="replace", start_new_session=True)
        late = False
        try:
            output, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            late = True
            output, errors = end(process)
        except BaseException:  # the user's Ctrl-C
            end(process)
            raise
        with log.open("a") as file:
            file.write(f"$ {' '.join(words)}\n{output}{errors}\nexit code {process.returncode}\n\n")
        if late and seconds < limit:
            raise Cut
        if late:
            raise Failed(f"took longer than {limit:.0f} s; see {log}")
        return Finished(process.returncode, output, errors)


def end(process):
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
            return process.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired:
            pass
        except ProcessLookupError:
            break
    return process.communicate()
