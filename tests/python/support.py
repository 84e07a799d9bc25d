"""What the tests of the Python package share: a dataset made for them, and Python in a process of its own."""

import atexit
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile

import feedrate
from feedrate._program import program

IMAGES = 600
INTERRUPTS = 500 if os.environ.get("FEEDRATE_LONG_TESTS") == "1" else 25
patience = 60  # seconds, for what must not hang, on a busy machine

_directory = tempfile.mkdtemp(prefix="feedrate-python-")
_maker = os.getpid()


@atexit.register
def _clean():
    if os.getpid() == _maker:  # not a forked child
        shutil.rmtree(_directory, ignore_errors=True)


def place(name):
    return os.path.join(_directory, name)


def shell(*words):
    """What the program prints to stdout."""
    done = subprocess.run([program(), *words], capture_output=True, text=True, timeout=patience)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.stderr}")
    return done.stdout


def loaded(path, *words):
    return json.loads(shell("load", path, *words, "--json"))


def mnist(to="lmdb"):
    """600 small grey images."""
    if not os.path.exists(place("mnist")):
        shell("synth", "mnist", "--images", str(IMAGES), "--out", place("mnist"))
    if not os.path.exists(place(to)):
        feedrate.convert("mnist", place("mnist"), to=to, split="all", out=place(to))
    return place(to) + "/train"


def photographs():
    """64 JPEGs of photographs' sizes."""
    if not os.path.exists(place("photographs")):
        shell("synth", "imagenet", "--images", "64", "--out", place("imagenet"))
        tar = place("imagenet/ILSVRC2012_img_train.tar")
        feedrate.convert("imagenet", tar, to="recordio", out=place("photographs"))
    return place("photographs")


def folder():
    """The photographs as files in directories of classes, as others have them: without a sidecar."""
    if not os.path.exists(place("image-folder")):
        feedrate.convert("dataset", photographs(), to="folder", out=place("image-folder"))
        for name in os.listdir(place("image-folder")):
            if os.path.isfile(os.path.join(place("image-folder"), name)):
                os.remove(os.path.join(place("image-folder"), name))
    return place("image-folder")


def python(code, *arguments):
    """Runs `code` in a fresh interpreter that finds the package."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=patience,
    )


def content(batch):
    return batch.images.tobytes(), batch.labels.tobytes(), batch.indices.tobytes()


def interrupted_run(make, interrupts):
    """Iterates over make() again and again until that many Ctrl-C at random moments have come; whenever one
    has, another make() goes on at the state of then. Returns what came out of the iterations."""
    draws = random.Random(1)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)  # what Ctrl-C does
    seen, state, longest = [], None, 0.001
    try:
        for _ in range(interrupts):
            loader = make()
            if state is not None:
                loader.load_state_dict(state)
            had = len(seen)
            try:
                signal.setitimer(signal.ITIMER_REAL, draws.uniform(1e-6, longest))
                while True:
                    for one in loader:
                        seen.append(one)
            except KeyboardInterrupt:
                state = loader.state_dict()
            longest *= 1.3 if len(seen) < had + 10 else 0.9  # nothing comes before threads have started
        return seen
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
