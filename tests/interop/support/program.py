"""What every script here shares: running the program, and comparing.

Scripts put this directory on sys.path instead of their own, where lmdb.py would shadow lmdb.
"""
import hashlib
import json
import pathlib
import struct
import subprocess
import sys

NAME = pathlib.Path(sys.argv[0]).stem
FEEDRATE = pathlib.Path(sys.argv[1]).resolve()


def stop(message):
    raise SystemExit(f"{NAME}: {message}")


def feedrate(*arguments, where=None):
    """The program's stdout; stops when it fails. `where`: its working directory."""
    words = list(map(str, arguments))
    done = subprocess.run([FEEDRATE, *words], capture_output=True, text=True, cwd=where)
    if done.returncode != 0:
        stop(f"feedrate {' '.join(words)}: {done.stderr}")
    return done.stdout


def equal(found, expected, what):
    if found != expected:
        stop(f"{what}: expected {expected!r}, found {found!r}")


def verified(path, where=None):
    """The digest of a dataset; stops when `verify` finds a problem."""
    report = json.loads(feedrate("verify", path, "--json", where=where))
    equal(report.get("findings", []), [], f"findings in {path}")
    return report["digest"]


def digest_of(samples):
    """The digest, as `verify` states it, of (pixels, label) pairs; pixels: u8 height x width x channels,
    RGB or grey."""
    whole = hashlib.sha256()
    for pixels, label in samples:
        head = struct.pack("<4I", label, *pixels.shape)
        whole.update(hashlib.sha256(head + pixels.tobytes()).digest())
    return whole.hexdigest()


def pixels_first(samples):
    """Swaps (label, pixels) pairs into the order of digest_of()."""
    return ((pixels, label) for label, pixels in samples)
