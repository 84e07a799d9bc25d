"""What every script here needs: the program it asks, and how it compares.

A script puts this directory in place of its own on sys.path: there "lmdb" would be lmdb.py.
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
    """What the program prints; it has to end well. `where`: the directory it runs in."""
    words = list(map(str, arguments))
    done = subprocess.run([FEEDRATE, *words], capture_output=True, text=True, cwd=where)
    if done.returncode != 0:
        stop(f"feedrate {' '.join(words)}: {done.stderr}")
    return done.stdout


def equal(found, expected, what):
    if found != expected:
        stop(f"{what}: expected {expected!r}, found {found!r}")


def verified(path, where=None):
    """The digest, once every sample was read and nothing was found."""
    report = json.loads(feedrate("verify", path, "--json", where=where))
    equal(report.get("findings", []), [], f"findings in {path}")
    return report["digest"]


def digest_of(samples):
    """Of (pixels u8 height x width x channels, RGB or grey, label) pairs, as `verify` states it."""
    whole = hashlib.sha256()
    for pixels, label in samples:
        head = struct.pack("<4I", label, *pixels.shape)
        whole.update(hashlib.sha256(head + pixels.tobytes()).digest())
    return whole.hexdigest()


def pixels_first(samples):
    """(label, pixels) pairs as digest_of takes them."""
    return ((pixels, label) for label, pixels in samples)
