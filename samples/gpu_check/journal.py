"""Files of lines: they may have been torn anywhere, by a kill or by a full disk."""

import json
import os
import sys


def append(file, text):
    """Adds lines of their own, even after one that is torn. What cannot be written is told: what was
    measured is not lost for it."""
    try:
        with file.open("ab+") as to:
            torn = to.tell() > 0 and to.seek(-1, os.SEEK_END) >= 0 and to.read(1) != b"\n"
            to.write(("\n" if torn else "").encode() + text.encode(errors="replace"))
            to.flush()
            os.fsync(to.fileno())
    except OSError as problem:
        print(f"gpu_check: {file.name} cannot be written: {problem}", file=sys.stderr)


def read(file):
    """The JSON objects that are whole."""
    rows = []
    for line in file.read_text(errors="replace").splitlines() if file.exists() else []:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows
