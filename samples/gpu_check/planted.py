"""What a machine is made to lack, so that the limit of a loader is known before it is measured: few of its
cores, a quota of processor time, a slow disk. Each ends with its `with`.

Quotas and slow disks need control groups that may be written (root, in version 1 or 2); Absent says why not."""

import contextlib
import os
import pathlib

from budget import Absent

GROUPS = pathlib.Path("/sys/fs/cgroup")


def some_of(share):
    """This share of the processors; one at least. Which share a core does not matter where they are to be
    too few; where they stand for all, the program chooses (`feedrate bench --cores`)."""
    processors = sorted(os.sched_getaffinity(0))
    return set(processors[:max(1, round(len(processors) * share))])


@contextlib.contextmanager
def on(processors):
    """What is started meanwhile runs on these processors only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def group(controller, settings):
    """Makes a control group with these settings, a file and its content each, by version: {1: …, 2: …}.
    What is started meanwhile runs in it."""
    second = (GROUPS / "cgroup.controllers").exists()
    top = GROUPS if second else GROUPS / controller
    made = top / f"feedrate-{os.getpid()}"
    try:
        home = own_group(controller, second, top)
        made.mkdir()
    except OSError as problem:
        raise Absent(f"no control group can be made: {problem}") from problem
    try:
        try:
            for name, text in settings[2 if second else 1]:
                (made / name).write_text(text)
            (made / "cgroup.procs").write_text(str(os.getpid()))
        except OSError as problem:
            raise Absent(f"{problem.filename or made} cannot be set: {problem.strerror}") from problem
        yield
    finally:
        with contextlib.suppress(OSError):
            (home / "cgroup.procs").write_text(str(os.getpid()))
        with contextlib.suppress(OSError):
            made.rmdir()


def own_group(controller, second, top):
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        number, names, path = line.split(":", 2)
        if (number == "0" and not names) if second else controller in names.split(","):
            inside = top / path.strip("/")
            return inside if inside.is_dir() else top
    raise Absent(f"this process is in no control group of {controller}")


def quota(cores):
    """So much processor time a second. Threads see as many processors as before."""
    period = 100_000
    time = int(cores * period)
    return group("cpu", {1: [("cpu.cfs_period_us", str(period)), ("cpu.cfs_quota_us", str(time))],
                         2: [("cpu.max", f"{time} {period}")]})


def slow_disk(path, bytes_per_second):
    """Reads from the disk below `path` take their time; those from the page cache don't."""
    device = os.stat(path).st_dev
    disk = f"{os.major(device)}:{os.minor(device)}"
    whole = pathlib.Path(f"/sys/dev/block/{disk}")
    if not whole.exists():
        raise Absent(f"{path} is on no disk of this machine")
    if (whole / "partition").exists():
        disk = (whole.resolve().parent / "dev").read_text().strip()
    return group("blkio" if not (GROUPS / "cgroup.controllers").exists() else "io",
                 {1: [("blkio.throttle.read_bps_device", f"{disk} {bytes_per_second}")],
                  2: [("io.max", f"{disk} rbps={bytes_per_second}")]})
