#!/usr/bin/env python3
"""What the probe of `feedrate diagnose` costs: one loop in one process, its hooks in turns taken out and put back.

    samples/bench_diagnose.py --feedrate build/release/feedrate [--pairs 15]

Run it by a Python that has torch. The loops have no workers, so what is added to a step is all that the probe does for
it: waiting, making the batch with its parts, and telling both. Blocks of steps with and without the hooks take turns;
their processor time is compared, since other work on the machine lengthens what a clock shows. Memory is beside a run
without the probe. Exits with 1 where a training's step gets more than 1 % longer, or a process more than 20 MB bigger.
The empty loop only hands on one tensor: it shows the cost alone, and only the limit of the script's memory holds for
it.
"""
import argparse
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

LOOPS = {"training, batches of 32": (32, 40), "training, batches of 128": (128, 10), "empty": (1, 1000)}
LIMIT_SHARE, LIMIT_MEMORY = 0.01, 20  # of a step, MB


def peak(process):
    """The most memory that a process has had, in MB."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def loop(batch, block, pairs):
    """Runs one loop and prints the µs of a step without the hooks, those that they add in each pair, and memory."""
    import torch
    from torch.utils.data import DataLoader, Dataset, _utils, dataloader

    class Crops(Dataset):
        images = torch.randint(0, 255, (64, 3, 48, 48), dtype=torch.uint8)

        def __len__(self):
            return 1 << 30

        def __getitem__(self, index):
            if batch == 1:
                return self.images[0]
            top, left = torch.randint(16, (2,)).tolist()
            return self.images[index % 64, :, top : top + 32, left : left + 32].float() / 255

    torch.set_num_threads(1)
    parts = torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(7200, 10)
    model = torch.nn.Sequential(*parts)
    hooks = []  # owner, name, hooked, as it was
    for owner, name in (dataloader._BaseDataLoaderIter, "__next__"), (_utils.fetch._MapDatasetFetcher, "fetch"):
        hooked = getattr(owner, name)
        hooks.append((owner, name, hooked, getattr(hooked, "__wrapped__", hooked)))
    batches = iter(DataLoader(Crops(), batch if batch > 1 else None))

    def timed(on):
        for owner, name, hooked, plain in hooks:
            setattr(owner, name, hooked if on else plain)
        begin = time.thread_time_ns()
        for images in itertools.islice(batches, block):
            if batch > 1:
                model(images).sum().backward()
        return (time.thread_time_ns() - begin) / block / 1000

    timed(True), timed(False)  # warm
    pairs = [(timed(False), timed(True)) for _ in range(pairs)]
    print(json.dumps({"step": statistics.median(plain for plain, _ in pairs),
                      "added": statistics.median(hooked - plain for plain, hooked in pairs),
                      "main": peak("self"), "listener": peak(os.getppid())}))  # fmt: skip


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--feedrate", required=True)
    options.add_argument("--pairs", default="15")
    options = options.parse_args()

    def ran(shape, *prefix):
        command = [*prefix, sys.executable, __file__, "--loop", *map(str, shape), options.pairs]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return json.loads(done.stdout.splitlines()[0])

    print("| loop | a step | the probe adds | | memory of the script | of `feedrate` |")
    print("|---|---|---|---|---|---|")
    missed = False
    for name, shape in LOOPS.items():
        plain, probed = ran(shape), ran(shape, options.feedrate, "diagnose", "--no-sweep", "--")
        share, grown = probed["added"] / probed["step"], probed["main"] - plain["main"]
        print(f"| {name} | {probed['step']:,.1f} µs | {probed['added']:.1f} µs | {100 * share:.2f} % | "
              f"{grown:+.1f} MB | {probed['listener']:.1f} MB |", flush=True)  # fmt: skip
        missed |= grown > LIMIT_MEMORY
        if name != "empty":
            missed |= share > LIMIT_SHARE or probed["listener"] > LIMIT_MEMORY
    return int(missed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--loop"]:
        loop(*map(int, sys.argv[2:]))
    else:
        sys.exit(main())
