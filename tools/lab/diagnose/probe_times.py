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
from _thread import _local

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
_most_lines = 1000  # of some 300 bytes


class _Channel:
    """A connection of this process; a forked child makes its own. What fails only silences it."""

    pid, socket, sent = 0, None, 0

    def send(self, kind, **facts):
        pid = os.getpid()
        if pid != self.pid:
            self.connect(pid)
        if self.socket is None:
            return
        facts.update(event=kind, pid=pid)
        self.lines.append(_text(facts))
        self.flush()

    def record(self, line):
        """Sends the line of a step or a batch, with others: to wake the listener costs more than to write."""
        pid = os.getpid()
        if pid != self.pid:
            self.connect(pid)
        if self.socket is None:
            return
        self.lines.append(line)
        if len(self.lines) >= _most_lines or _now() - self.sent > _collected_for:
            self.flush()

    def connect(self, pid):
        self.pid, self.socket, self.lines = pid, None, []
        try:
            import _socket

            socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
            socket.connect(os.path.join(_place, "socket"))
            self.socket = socket
        except (OSError, ImportError):
            return
        rank = os.environ.get("RANK", "")
        self.send("hello", parent=os.getppid(), rank=int(rank) if rank.isdigit() else None)

    def flush(self):
        lines, self.lines, self.sent = self.lines, [], _now()
        try:
            if lines and self.socket is not None and self.pid == os.getpid():
                self.socket.sendall(("\n".join(lines) + "\n").encode())
        except OSError:
            self.socket = None


_channel = _Channel()
_send, _record = _channel.send, _channel.record


def _step(number, begin, end, cpu, own, delay, pin, samples=None):
    """The loop got a batch."""
    _record('{"event":"step","pid":%d,"loader":%d,"begin":%d,"end":%d,"cpu":%d,"own":%d,"delay":%s,"pin":%d,'
            '"samples":%s}'
            % (os.getpid(), number, begin, end, cpu, own, _whole(delay), pin, _whole(samples)))  # fmt: skip


def _whole(number):
    return "null" if number is None else str(number)


class _State(_local):
    """Of a thread. `sums`: of the batch being made, wall, CPU and calls of each span; `inner`: what the spans inside
    the open one took; `loader`: for which the main process makes a batch itself."""

    sums = inner = loader = None


_state = _State()
_worker = {}  # of a worker: `text`, which says the seed of its iterator and its number
_counts = {"loaders": 0, "put": 0, "put_cpu": 0, "pin": 0, "batches": 0, "plain": 0, "sweep": None}
_files = {}


def _kernel(name):
    """The text of a file about this process; it stays open, since opening costs more than reading."""
    pid = os.getpid()
    try:
        known = _files.get(name)
        if known is None or known[0] != pid:
            known = _files[name] = (pid, os.open(name, os.O_RDONLY | os.O_CLOEXEC))
        return os.pread(known[1], 512, 0)
    except OSError:
        return b""


def _delay():
    """How long the process's main thread has waited for a processor."""
    words = _kernel("/proc/self/schedstat").split()
    return int(words[1]) if len(words) > 1 else None


def _read_bytes():
    """What was read: in all, and from storage."""
    words = _kernel("/proc/self/io").split()
    return [int(words[1]), int(words[9])] if len(words) > 9 else None


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
