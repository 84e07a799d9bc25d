"""The common part of the adapters of other frameworks: command line, clock and answer.

    ADAPTER.py --check                    prints what it can do, as JSON; exits with 3 and a sentence
                                          when its framework is not installed
    ADAPTER.py --format F --graph FILE --recipe R --batch B --threads N --compute-threads N
               --device D --precision P --seconds S --seed N [--cold] [--compile | --cuda-graph]
               -- KIND DATASET

KIND is supply (the framework's loader alone), demand (its trainer on a few batches in memory),
compute (the same on two batches that stay on the device) or delivered (loader and trainer). FILE is one of our networks, as `graph_json` writes it. The answer is one JSON
object with the keys of `feedrate load --json` and `feedrate train --json`.

An adapter is a class with

    name, formats, recipes     what it can read and do
    least_threads              1 where its loader needs threads of its own, else 0
    version                    of the framework
    prepare(options)           called first: sets threads and seed
    batches(options, graph)    yields (batch, images, workers) from its loader without end; `graph`
                               may be None
    ready(options)             how many batches may be ready when the first one arrives
    trainer(options, graph)    an object with step(batch), wait(), loss() and parameters

and, where it does more than train in fp32 on the CPU,

    trains                     precisions by device
    ways                       by device: ["compile"] where it takes --compile
    kinds                      ["compute"]: its trainers have placed(batch), which takes a batch to
                               the device
    gpu()                      the UUID of the GPU that --device cuda uses

and a function that imports the framework and returns one.
"""

import argparse
import collections
import contextlib
import itertools
import json
import os
import pathlib
import platform
import sys
import time

import settling
from gpu_energy import GpuEnergy

ABSENT = 3  # exit code
RESIDENT = 16  # batches that demand cycles through
RESIDENT_IMAGES = 1024  # fewer batches where they hold more than this, but two


class Problem(Exception):
    """An error, as a sentence for the user."""


def main(load):
    options = arguments(sys.argv[1:])
    here = pathlib.Path(__file__).resolve().parent  # our tensorflow.py would shadow TensorFlow
    sys.path[:] = [place for place in sys.path if pathlib.Path(place).resolve() != here]
    with imports():
        adapter = load()
    try:
        print(json.dumps(abilities(adapter) if options.check else answer(adapter, options)))
    except (Problem, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(1)


@contextlib.contextmanager
def imports():
    """Exits with ABSENT where an import of the framework fails."""
    try:
        yield
    except ImportError as error:
        print(f"{error} (asked of {sys.executable})", file=sys.stderr)
        sys.exit(ABSENT)


def arguments(words):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("kind", nargs="?", choices=["supply", "demand", "delivered", "compute"])
    parser.add_argument("dataset", nargs="?", type=pathlib.Path)
    parser.add_argument("--format")
    parser.add_argument("--graph", type=pathlib.Path)
    parser.add_argument("--recipe", default="none")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--compute-threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--cuda-graph", action="store_true")
    options = parser.parse_args(words)
    if not options.check and not (options.dataset and options.format):
        parser.error("expected KIND DATASET --format FORMAT, or --check")
    if options.kind not in (None, "supply") and not options.graph:
        parser.error(f"{options.kind} needs --graph")
    if options.cuda_graph and options.device != "cuda":
        parser.error("--cuda-graph needs --device cuda")
    return options


def abilities(adapter):
    return {"tool": adapter.name, "tool_version": adapter.version,
            "python_version": platform.python_version(), "formats": adapter.formats,
            "recipes": adapter.recipes, "least_threads": adapter.least_threads,
            "kinds": getattr(adapter, "kinds", []), "ways": getattr(adapter, "ways", {}),
            "trains": trains(adapter)}


def trains(adapter):
    return getattr(adapter, "trains", {"cpu": ["fp32"]})


def answer(adapter, options):
    if options.precision not in trains(adapter).get(options.device, []):
        raise Problem(f"{adapter.name} does not train in {options.precision} on "
                      f"{options.device} here")
    adapter.prepare(options)
    if options.cold:
        forget(options.dataset)
    if options.kind == "supply":
        result = supply(adapter, options)
    else:
        result = train(adapter, options, json.loads(options.graph.read_text()))
    return result | {"threads": options.threads, "batch": options.batch, "tool": adapter.name,
                     "tool_version": adapter.version}


def forget(dataset):
    """Drops the dataset's files from the page cache."""
    for file in [dataset] if dataset.is_file() else sorted(dataset.rglob("*")):
        if file.is_file():
            with open(file, "rb") as stream:
                os.fsync(stream.fileno())
                os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Meter:
    """Counts images, steps and waiting since the clock started."""

    def __init__(self, seconds):
        self.wanted, self.images, self.waited, self.steps = seconds, 0, 0.0, 0
        self.marks = settling.Marks(seconds)
        self.cpu, self.start = cpu_seconds(), time.monotonic()

    def elapsed(self):
        return time.monotonic() - self.start

    def add(self, images, waited):
        self.images += images
        self.waited += waited
        self.steps += 1
        self.marks.add(self.elapsed(), self.images, self.waited)

    def over(self):
        return self.elapsed() >= self.wanted

    def result(self, trains):
        seconds, cpu = self.elapsed(), cpu_seconds() - self.cpu
        rate, waited = self.images / seconds, self.waited / seconds
        warmup = self.marks.settled_after()
        if warmup:
            rate, waited = self.marks.since(warmup)
        return {
            "images": self.images,
            "seconds": round(seconds, 6),
            "images_per_second": round(rate, 3),
            "warmup_seconds": None if warmup is None else round(warmup, 3),
            "stall_percent": round(100 * waited, 3) if trains else None,
            "wait_ms_per_step": round(1e3 * self.waited / self.steps, 6) if trains else None,
            "cpu_seconds_per_image": round(cpu / self.images, 9),
            "cpu_seconds": round(cpu, 6),
        }


def supply(adapter, options):
    """Measures the loader, from after the batches that were ready when the first one arrived."""
    batches, seen = iter(adapter.batches(options, None)), Seen()
    begin = time.monotonic()
    for _ in range(1 + adapter.ready(options)):
        seen.add(next(batches)[2])
        if time.monotonic() - begin > options.seconds:
            break
    meter = Meter(options.seconds)
    while meter.steps == 0 or not meter.over():
        _, images, workers = next(batches)
        seen.add(workers)
        meter.add(images, 0.0)
    return meter.result(trains=False) | {"workers_seen": seen.count()}


def train(adapter, options, graph):
    trainer = adapter.trainer(options, graph)
    if trainer.parameters != graph["parameter_count"]:
        raise Problem(f"{adapter.name} makes {trainer.parameters:,} parameters of "
                      f"{graph['network']}, which has {graph['parameter_count']:,}")
    batches, seen = iter(adapter.batches(options, graph)), Seen()
    if options.kind == "demand":
        count = max(2, min(RESIDENT, RESIDENT_IMAGES // options.batch))
        batches = itertools.cycle([next(batches) for _ in range(count)])
    elif options.kind == "compute":
        two = [next(batches) for _ in range(2)]
        batches = itertools.cycle([(trainer.placed(batch), *rest) for batch, *rest in two])
    batch, _, workers = next(batches)
    seen.add(workers)
    trainer.step(batch)  # the first step pays for the set-up
    trainer.wait()
    energy = GpuEnergy(adapter.gpu()) if options.device == "cuda" else None
    meter = Meter(options.seconds)
    while meter.steps == 0 or not meter.over():
        began = time.monotonic()
        batch, images, workers = next(batches)
        waited = time.monotonic() - began
        seen.add(workers)
        trainer.step(batch)
        meter.add(images, waited)
    trainer.wait()
    result = meter.result(trains=True)
    if energy is not None:
        result |= energy.result(result["seconds"])
    loss = trainer.loss()
    if loss != loss or abs(loss) == float("inf"):
        raise Problem(f"the loss of {graph['network']} is no longer finite in {adapter.name}")
    return result | {"workers_seen": seen.count() if options.kind == "delivered" else None,
                     "steps": meter.steps, "parameters": trainer.parameters, "loss": round(loss, 6)}


class Seen:
    """Counts the loader workers that made batches; None where the framework does not name them."""

    def __init__(self):
        self.workers, self.known = set(), True

    def add(self, workers):
        self.known = self.known and workers is not None
        self.workers.update(workers or ())

    def count(self):
        return len(self.workers) if self.known else None


class Recent:
    """Losses of the last steps, read only at the end, so that no step waits for them."""

    def __init__(self):
        self.losses = collections.deque(maxlen=100)

    def add(self, loss):
        self.losses.append(loss)

    def mean(self):
        return sum(float(loss) for loss in self.losses) / len(self.losses)


def cpu_seconds():
    """Processor time of this process and its descendants, since loaders may use processes."""
    total, left = 0, [os.getpid()]
    while left:
        try:
            process = pathlib.Path("/proc", str(left.pop()))
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
            for task in (process / "task").iterdir():
                left += [int(child) for child in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):  # it has ended since
            pass
    return total / os.sysconf("SC_CLK_TCK")
