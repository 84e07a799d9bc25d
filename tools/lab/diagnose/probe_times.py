"""What 'feedrate diagnose' puts into a Python process, as sitecustomize: it times the loading of data.

It changes no result. It draws no random number, starts no thread and waits for nothing; what it cannot do, it
leaves out. It imports only what a script cannot shadow, before torch has imported more. All arithmetic is
done by the program, which listens at the socket beside this file. Times are nanoseconds of one clock.
"""

import os
import sys
import time
from _json import encode_basestring_ascii as _quoted
from _operator import getitem as _getitem
from _thread import _local, get_ident as _thread
from _weakref import ref as _weakly

_place = os.path.dirname(os.path.abspath(__file__))
_library = os.path.dirname(os.__file__)  # Python's own modules
_now, _cpu = time.monotonic_ns, time.thread_time_ns


def _text(value):
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict):
        return "{" + ",".join(_quoted(str(k)) + ":" + _text(v) for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_text, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


_collected_for = 200_000_000  # ns


class _Channel:
    """A connection of this process; a forked child makes its own. What fails only silences it."""

    pid, socket, sent = 0, None, 0
    lines, rows = [], []  # rows: weakly, those that are told from time to time, since to wake the listener costs more

    def send(self, kind, **facts):
        pid = os.getpid()
        if pid != self.pid:
            self.connect(pid)
        if self.socket is None:
            return
        facts.update(event=kind, pid=pid)
        self.tell_rows()
        self.lines.append(_text(facts))
        self.flush()

    def connect(self, pid):
        self.pid, self.socket, self.lines = pid, None, []
        for rows in self.all_rows():
            rows.clear()  # the parent's
        try:
            import _socket

            socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
            socket.connect(os.path.join(_place, "socket"))
            self.socket = socket
        except (OSError, ImportError):
            return
        rank = os.environ.get("RANK", "")
        self.send("hello", parent=os.getppid(), rank=int(rank) if rank.isdigit() else None)

    def all_rows(self):
        self.rows = [one for one in self.rows if one() is not None]
        return [rows for rows in (one() for one in self.rows) if rows is not None]

    def tell_rows(self):
        for rows in self.all_rows():
            rows.tell(self.lines)

    def flush(self):
        if self.pid != os.getpid():
            return
        self.tell_rows()
        lines, self.lines, self.sent = self.lines, [], _now()
        try:
            if lines and self.socket is not None:
                self.socket.sendall(("\n".join(lines) + "\n").encode())
        except OSError:
            self.socket = None


_channel = _Channel()
_send = _channel.send

_full_costs = 130_000  # ns, of timing a step or a batch with every clock, where its caches are cold
_full_share = 0.005  # of the time, at most for that: of short ones, only some are timed so
_most_light = 31  # in between


class _Rows:
    """What is told of steps or batches: of every one when it began and ended; of some, more."""

    def __init__(self, head):
        self.head, self.light, self.full, self.skip = head, [], [], 0
        _channel.rows.append(_weakly(self))

    def __del__(self):
        if (self.light or self.full) and _channel.pid == os.getpid():
            self.tell(_channel.lines)

    def clear(self):
        self.light, self.full = [], []

    def plan(self, period):
        """After a full one: how many light ones follow, of that length."""
        self.skip = min(_most_light, int(_full_costs / (_full_share * max(1, period))))

    def tell(self, lines):
        if not self.light and not self.full:
            return
        light, full = self.light, self.full
        self.clear()
        for row in full:
            before, after = _number_in(row[2], 1), _number_in(row[3], 1)
            row[2:4] = (-1 if before is None or after is None else after - before,)
        lines.append('%s,"light":%r,"full":%r}' % (self.head, light, full))


class _State(_local):
    """Of a thread. `sums`: of the batch being made, wall, CPU and calls of each span; `inner`: what the spans inside
    the open one took; `making`: what is to be known of the batch that the main process makes itself."""

    sums = inner = making = None


_state = _State()
_counts = {"loaders": 0, "put": 0, "put_cpu": 0, "puts": 0, "pin": 0, "sweep": None}
_files = {}


def _kernel(name):
    """The text of a file about this process; it stays open, since opening costs more than reading."""
    pid = _channel.pid
    try:
        known = _files.get(name)
        if known is None or known[0] != pid:
            known = _files[name] = (pid, os.open(name, os.O_RDONLY | os.O_CLOEXEC))
        return os.pread(known[1], 512, 0)
    except OSError:
        return b""


def _number_in(text, at):
    """That word of a file of the kernel's; None: there is none."""
    words = text.split()
    return int(words[at]) if len(words) > at else None


def _delay():
    """How long the process's main thread has waited for a processor, as the kernel writes it."""
    return _kernel("/proc/self/schedstat")


def _read_bytes():
    """What was read: in all, and from storage, as the kernel writes it."""
    return _kernel("/proc/self/io")


def _timed(name, call, *args, **kwargs):
    sums = _state.sums
    if sums is None:
        return call(*args, **kwargs)
    outer = _state.inner
    mine = _state.inner = [0, 0]
    begin, used = _now(), _cpu()
    try:
        return call(*args, **kwargs)
    finally:
        wall, cpu = _now() - begin, _cpu() - used
        _state.inner = outer
        if outer is not None:
            outer[0] += wall
            outer[1] += cpu
        one = sums.setdefault(name, [0, 0, 0])
        one[0] += wall - mine[0]
        one[1] += cpu - mine[1]
        one[2] += 1


def _replace(owner, name, make):
    """Puts make(original) in the place of a function, once."""
    original = getattr(owner, name, None)
    if original is None or hasattr(original, "_feedrate"):
        return
    import functools

    try:
        new = functools.wraps(original)(make(original))
        new._feedrate = True
        setattr(owner, name, new)
    except (AttributeError, TypeError):
        pass


def _span(owner, name, span):
    _replace(owner, name, lambda call: lambda *args, **kwargs: _timed(span, call, *args, **kwargs))
