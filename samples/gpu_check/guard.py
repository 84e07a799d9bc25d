"""Ends what the check has started when the check itself is killed. A program that went on would hold the
device, and write into the rows of the call that resumes this one."""

import contextlib
import os
import signal
import subprocess
import sys

# Signals by which whoever lends the machine, or sits before it, wants it back.
STOPS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

# Reads process groups, and those that have ended as negative numbers. Its input ends with the check.
PROGRAM = """
import os, signal, sys
groups = set()
for line in sys.stdin:
    group = int(line)
    (groups.add if group > 0 else groups.discard)(abs(group))
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass
"""


class Guard:
    """Started with the first group that it guards. A line is one write, so threads need no lock."""

    def __init__(self):
        self.process = None

    def begin(self, group):
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, "-IS", "-c", PROGRAM], stdin=subprocess.PIPE,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                            start_new_session=True)
        self.tell(group)

    def end(self, group):
        self.tell(-group)

    def tell(self, number):
        with contextlib.suppress(BrokenPipeError):  # someone has killed the guard: the check goes on
            os.write(self.process.stdin.fileno(), f"{number}\n".encode())


@contextlib.contextmanager
def undisturbed():
    """Signals that stop the check wait until what is being written is whole."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
