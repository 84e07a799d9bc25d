#!/usr/bin/env python3
"""What the probe of `feedrate diagnose` costs: the time that its hooks take around what they replaced.

    samples/bench_diagnose.py --feedrate build/release/feedrate [--steps 4000]

Run it by a Python that has torch. Most loops have no workers, so what is added to a step is all that the probe does for
it: waiting, making the batch with its parts, and telling both. The others look into a worker, whose step is making a
batch. A clock is read outside and inside of each hook, in every
step, so that caches are as cold as the training leaves them, and other work on the machine lengthens steps without and
with the probe alike. What the clocks take themselves is measured without the probe, and subtracted. Parts of a batch are
timed in some batches only: how much longer those take than the ten around them counts as often as it happens. What takes
over a millisecond is another program's turn, and left out. Memory is beside a run without the probe. Exits with 1 where a
training's step gets more than 1 % longer, or a process more than 20 MB bigger. The empty loop only hands on one tensor:
it shows the cost alone, and only the limit of the script's memory holds for it.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

LOOPS = {"training, batches of 32": (32, 1, 0), "training, batches of 128": (128, 0.5, 0), "empty": (1, 20, 0),
         "a worker, batches of 32": (32, 1, 1), "a worker, batches of 128": (128, 0.5, 1)}  # fmt: skip
LIMIT_SHARE, LIMIT_MEMORY = 0.01, 20  # of a step, MB
ANOTHERS_TURN = 1_000_000  # ns
now = time.monotonic_ns


def peak(process):
    """The most memory that a process has had, in MB."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


class Around:
    """A hooked function and what it replaced: how long the hook takes beside that, and that alone."""

    def __init__(self, owner, name, hook):
        self.beside, self.within, self.detailed = [], [], []
        original = getattr(owner, name)
        original = getattr(original, "__wrapped__", original)
        probe = sys.modules.get("_feedrate_probe")
        inner = [0, 0]

        def within(*args):
            begin = now()
            made = original(*args)
            inner[:] = begin, now()
            self.detailed.append(probe is not None and probe._state.sums is not None)
            return made

        setattr(owner, name, within)
        if probe is not None:
            hook(probe)
        hooked = getattr(owner, name)

        def around(*args):
            begin = now()
            made = hooked(*args)
            end = now()
            self.beside.append(end - begin - (inner[1] - inner[0]))
            self.within.append(inner[1] - inner[0])
            return made

        setattr(owner, name, around)

    def mean(self):
        return statistics.fmean(one for one in self.beside if one < ANOTHERS_TURN)

    def parts(self):
        """What timing the parts of some batches adds to the mean one."""
        longer = []
        for at, detailed in enumerate(self.detailed):
            others = [self.within[i] for i in range(max(0, at - 5), at + 6) if i < len(self.within) and not self.detailed[i]]
            if detailed and at > 20 and others:
                longer.append(self.within[at] - statistics.median(others))
        return statistics.median(longer) * len(longer) / len(self.detailed) if longer else 0


def loop(batch, steps, workers):
    """Runs one loop and prints the µs of a step, those that the hooks take, and memory: its own, or its worker's."""
    from multiprocessing import util

    import torch
    from torch.utils.data import DataLoader, Dataset, _utils, dataloader

    class Crops(Dataset):
        images = torch.randint(0, 255, (64, 3, 48, 48), dtype=torch.uint8)

        def __len__(self):
            return batch * steps if workers else 1 << 30

        def __getitem__(self, index):
            if batch == 1:
                return self.images[0]
            top, left = torch.randint(16, (2,)).tolist()
            return self.images[index % 64, :, top : top + 32, left : left + 32].float() / 255

    torch.set_num_threads(1)
    parts = torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(7200, 10)
    model = torch.nn.Sequential(*parts)
    fetching = Around(_utils.fetch._MapDatasetFetcher, "fetch", lambda probe: probe._hook_fetch(_utils.fetch))
    taking = Around(dataloader._BaseDataLoaderIter, "__next__", lambda probe: probe._hook_dataloader(dataloader))
    took = []

    def report(step, *hooks):
        print(json.dumps({"step": statistics.median(step) / 1000, "hooks": sum(hook.mean() for hook in hooks) / 1000,
                          "parts": fetching.parts() / 1000, "main": peak("self"), "listener": peak(listener)}), flush=True)  # fmt: skip

    def at_workers_end(_):
        util.Finalize(None, lambda: report(fetching.within, fetching), exitpriority=1)

    listener = os.getppid()
    loader = DataLoader(Crops(), batch if batch > 1 else None, num_workers=workers, worker_init_fn=at_workers_end)
    if workers:
        for _ in loader:
            pass
        return
    batches = iter(loader)
    for _ in range(steps):
        begin = now()
        images = next(batches)
        if batch > 1:
            model(images).sum().backward()
        took.append(now() - begin)
        del images
    report(took, fetching, taking)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--feedrate", required=True)
    options.add_argument("--steps", type=int, default=4000)
    options = options.parse_args()

    def ran(shape, *prefix):
        command = [*prefix, sys.executable, __file__, "--loop", str(shape[0]), str(int(shape[1] * options.steps)), str(shape[2])]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return json.loads(done.stdout.splitlines()[0])

    print("| loop | a step | the probe adds | | of that, timing parts | memory of the process | of `feedrate` |")
    print("|---|---|---|---|---|---|---|")
    missed = False
    for name, shape in LOOPS.items():
        plain, probed = ran(shape), ran(shape, options.feedrate, "diagnose", "--no-sweep", "--")
        added = probed["hooks"] - plain["hooks"] + probed["parts"]
        share, grown = added / probed["step"], probed["main"] - plain["main"]
        print(f"| {name} | {probed['step']:,.1f} µs | {added:.1f} µs | {100 * share:.2f} % | {probed['parts']:.1f} µs | "
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
