#!/usr/bin/env python3
"""Images/s of a training in PyTorch with PyTorch's loader and with ours, in turns.

    samples/python/before_after.py train_imagenet.py imagenet --epochs 2 --batch-size 32 --workers 2

Undoes the script's diff in samples/README.md to have the one before, and gives both the rest of the words.
"""

import argparse
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = ["train_imagenet.py", "train_timm.py", "train_lightning.py"]


def diff_of(script):
    """As samples/README.md shows it: from PyTorch's loader to ours."""
    page = (HERE.parent / "README.md").read_text(encoding="utf-8")
    for diff in re.findall(r"^```diff\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        if f"+++ feedrate/{script}\n" in diff:
            return diff
    sys.exit(f"before_after: samples/README.md has no diff of {script}")


def write_before(script, path):
    if shutil.which("patch") is None:
        sys.exit("before_after: needs the program patch")
    command = ["patch", "--silent", "--reverse", "--output", path, HERE / script]
    if subprocess.run(command, input=diff_of(script), text=True).returncode != 0:
        sys.exit(f"before_after: the diff in samples/README.md is not of {script} as it is")


def rate(script, words):
    """What the script says at its end."""
    done = subprocess.run([sys.executable, script, *words], stdout=subprocess.PIPE, text=True)
    found = re.search(r"^images/s: ([0-9.]+)$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or found is None:
        sys.exit(f"before_after: {script} failed")
    return float(found[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="All other words are the script's.")
    parser.add_argument("script", choices=SCRIPTS)
    parser.add_argument("--turns", type=int, default=3, help="each runs the script with either loader; medians are printed")
    options, words = parser.parse_known_args()
    before, after = [], []
    with tempfile.TemporaryDirectory() as directory:
        theirs = pathlib.Path(directory) / options.script
        write_before(options.script, theirs)
        for _ in range(options.turns):
            before.append(rate(theirs, words))
            after.append(rate(HERE / options.script, words))
            print(f"before {before[-1]:.1f}, after {after[-1]:.1f} images/s", flush=True)
    theirs, ours = statistics.median(before), statistics.median(after)
    print(f"{options.script}: before {theirs:.1f}, after {ours:.1f} images/s: {ours / theirs:.2f} times as many")


if __name__ == "__main__":
    main()
