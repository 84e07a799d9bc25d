"""--keep: the few files that go home. They are rewritten after each step, each by a rename, so that
whoever kills the check at any second loses one step."""

import contextlib
import gzip
import io
import json
import os
import pathlib
import shutil
import sys
import tarfile

import summary

LOGS = "logs.tar.gz"
MAX_LOG = 400_000  # bytes of a log: its end counts
MAX_LOGS = 15_000_000  # of the packed file: what comes home may have 16 MiB


def files(check):
    """What is kept, by its name there."""
    return {"steps.jsonl": check.steps_file, "results.jsonl": check.results,
            "summary.txt": check.out / "summary.txt", "tests.json": check.tests_file,
            "algorithms.txt": check.cache / "feedrate" / "algorithms.txt",
            "layers-256.json": check.out / "layers-256.json"}


def all_files(check):
    """After each step."""
    steps(check)
    said = summary.text(check)
    with contextlib.suppress(OSError):  # a full disk, of which the rows tell
        (check.out / "summary.txt").write_text(said)
    replace(check, "summary.txt", lambda to: to.write_text(said))
    for name, file in files(check).items():
        if file.exists() and name not in ("steps.jsonl", "summary.txt"):
            replace(check, name, lambda to, file=file: shutil.copyfile(file, to))
    replace(check, LOGS, lambda to: pack(check.out / "logs", to))


def steps(check):
    """From memory: the disk of --out may be full when that of --keep is not."""
    replace(check, "steps.jsonl",
            lambda to: to.write_text("".join(json.dumps(row) + "\n" for row in check.rows)))


def replace(check, name, write):
    """No measurement is lost because a file cannot be kept."""
    into = check.options.keep
    if not into:
        return
    try:
        into.mkdir(parents=True, exist_ok=True)
        partial = into / "partial"
        write(partial)
        os.replace(partial, into / name)
    except OSError as problem:
        print(f"gpu_check: {name} is not kept: {problem}", file=sys.stderr)


class Counted:
    """A file that tells its size."""

    def __init__(self, file):
        self.file, self.size = file, 0

    def write(self, data):
        self.size += len(data)
        return self.file.write(data)

    def flush(self):
        self.file.flush()


def pack(logs, to):
    """The newest first, as many as the limit holds however little they compress."""
    newest = sorted((file for file in logs.glob("*") if file.is_file()),
                    key=lambda file: file.stat().st_mtime, reverse=True)
    with to.open("wb") as file, gzip.GzipFile(fileobj=(counted := Counted(file)), mode="wb",
                                              compresslevel=3) as zipped, \
            tarfile.open(fileobj=zipped, mode="w") as tar:
        for log in newest:
            with log.open("rb") as text:
                text.seek(max(0, log.stat().st_size - MAX_LOG))
                end = text.read(MAX_LOG)
            zipped.flush()
            if counted.size + len(end) > MAX_LOGS:
                return
            entry = tarfile.TarInfo(f"logs/{log.name}")
            entry.size, entry.mtime = len(end), int(log.stat().st_mtime)
            tar.addfile(entry, io.BytesIO(end))


def take_back(check, kept):
    """--from: goes on with what --keep of a call on another machine has brought home."""
    for name, file in files(check).items():
        if (kept / name).exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(kept / name, file)
    if (kept / LOGS).exists():
        unpack(kept / LOGS, check.out / "logs")


def unpack(packed, logs):
    logs.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(packed) as tar:
            for entry in tar:
                if entry.isfile():
                    file = logs / pathlib.PurePath(entry.name).name
                    file.write_bytes(tar.extractfile(entry).read())
                    os.utime(file, (entry.mtime, entry.mtime))
    except (tarfile.TarError, EOFError, OSError) as problem:
        print(f"gpu_check: logs of {packed} are lost: {problem}", file=sys.stderr)
