"""--keep: the few files that go home. They are rewritten after each step, each by a rename, so that
whoever kills the check at any second loses one step."""

import io
import os
import shutil
import sys
import tarfile

import summary

LOGS = "logs.tar.gz"
MAX_LOG = 400_000  # bytes of a log: its end counts
MAX_LOGS = 60_000_000  # before they are compressed, the newest first


def files(check):
    """What is kept, by its name there."""
    return {"steps.jsonl": check.steps_file, "results.jsonl": check.results,
            "summary.txt": check.out / "summary.txt", "tests.json": check.tests_file,
            "algorithms.txt": check.cache / "feedrate" / "algorithms.txt",
            "layers-256.json": check.out / "layers-256.json"}


def all_files(check):
    """After each step."""
    (check.out / "summary.txt").write_text(summary.text(check))
    for file in files(check).values():
        only(check, file)
    replace(check, LOGS, lambda to: pack(check.out / "logs", to))


def only(check, file):
    """One file, if it exists."""
    if file.exists():
        name = next(name for name, kept in files(check).items() if kept == file)
        replace(check, name, lambda to: shutil.copyfile(file, to))


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


def pack(logs, to):
    newest = sorted(logs.glob("*"), key=lambda file: file.stat().st_mtime, reverse=True)
    packed = 0
    with tarfile.open(to, "w:gz", compresslevel=3) as tar:
        for file in newest:
            with file.open("rb") as log:
                log.seek(max(0, file.stat().st_size - MAX_LOG))
                end = log.read(MAX_LOG)
            packed += len(end)
            if packed > MAX_LOGS:
                return
            entry = tarfile.TarInfo(f"logs/{file.name}")
            entry.size, entry.mtime = len(end), int(file.stat().st_mtime)
            tar.addfile(entry, io.BytesIO(end))


def take_back(check, kept):
    """--from: goes on with what --keep of a call on another machine has brought home."""
    for name, file in files(check).items():
        if (kept / name).exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(kept / name, file)
