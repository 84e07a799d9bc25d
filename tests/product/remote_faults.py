#!/usr/bin/env python3
"""Commands on datasets of a server that breaks its answers: the digests of the disk, or an error that names the URL.

    remote_faults.py FEEDRATE [--runs 1000] [--seed N] [--only RUN] [--jobs 4] [--world DIRECTORY]

A run is a function of the seed and its number, but for the moments of kills: a format, a scheme, a command, faults
(faulty_server.py), and a way: alone, with a cache of its own or one of all runs, killed and started again, or several
processes on one cache. What passes when it is asked for again must not show. Prints one line of JSON; exits with 1, and
names the runs, where a digest was wrong, a command hung or crashed, an error named no URL, a secret was told, or
something unfinished got a final name."""

import argparse
import collections
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import faulty_server

SECRET = "s3cr3t-word"
LIMIT = 240  # seconds until a command hangs
SILENT_EVERY = 40  # runs: a silence takes 20 s
SIZES = [16 << 20, 1 << 30]  # of caches: one is too small for all datasets
GOOD = {"right", "refused"}  # refused: because of a fault that stays
OUTCOMES = ["right", "refused", "gave up", "wrong", "hung", "crashed", "unnamed", "leaked", "unfinished"]


class World:
    """Six datasets, what the disk says about them, and their server."""

    def __init__(self, program, directory):
        self.program, self.directory = program, pathlib.Path(directory)
        self.data = self.directory / "data"
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        self.environment |= {"AWS_REGION": "us-east-1", "TMPDIR": str(self.directory), "AWS_SECRET_ACCESS_KEY": SECRET}
        self.names = []
        for encode in "keep", "packed":
            for to in "recordio", "tfrecord", "webdataset":
                self.names.append(f"{to}-{encode}")
                if not (self.data / self.names[-1]).exists():
                    self.make(to, encode)
        self.server = faulty_server.Server(self.directory)

    def make(self, to, encode):
        archives = self.directory / "archives"
        if not archives.exists():
            self.call("synth", "imagenet", "--images", 24, "--out", archives)
        self.call("convert", "imagenet", archives, "--split", "train", "--to", to, "--encode", encode, "--limit", 24,
                  "--shards", 2, "--out", self.data / self.names[-1])

    def call(self, *words):
        return subprocess.run([self.program, *map(str, words)], env=self.environment, check=True, capture_output=True,
                              text=True).stdout

    @functools.cache
    def expected(self, name, words):
        """What the command finds on the disk."""
        if words[0] == "convert":
            with tempfile.TemporaryDirectory(dir=self.directory) as out:
                self.call("convert", "dataset", self.data / name, *words[2:], "--out", pathlib.Path(out) / "out")
                return tree(pathlib.Path(out) / "out")
        return json.loads(self.call(words[0], self.data / name, *words[1:], "--json"))["digest"]


def tree(directory):
    return {str(one.relative_to(directory)): hashlib.sha256(one.read_bytes()).hexdigest()
            for one in sorted(directory.rglob("*")) if one.is_file()}


class Run:
    def __init__(self, world, seed, number):
        self.world, self.number = world, number
        draw = self.draw = random.Random(f"{seed} {number}")
        self.name, self.scheme = draw.choice(world.names), draw.choice(["http", "http", "s3"])
        self.lasting = draw.choice([None, draw.choice(faulty_server.LASTING)])
        self.often = draw.choice([0, 0.05, 0.2, 0.5])
        self.way = draw.choice(["alone", "alone", "own cache", "shared cache", "killed", "killed", "several"])
        self.command = self.drawn_command()
        self.more = ["--connections", draw.choice([1, 2, 8, 64])]
        self.clients = []

    def drawn_command(self):
        """The words on which a digest depends, the rest is in self.rest."""
        draw = self.draw
        kind = draw.choice(["load", "load", "load", "load", "verify", "convert"])
        self.rest = ["--threads", draw.choice([0, 1, 2, 3, 8] if kind == "load" else [1, 2, 4])]
        if kind == "convert":
            to = draw.choice(["recordio", "tfrecord", "webdataset"])
            return "convert", "dataset", "--to", to, "--shards", draw.choice([1, 3])
        if kind == "verify":
            return (kind,)
        ranks = draw.choice([1, 1, 2, 3])
        recipe = draw.choice(["imagenet-eval", "imagenet-train"])
        return (kind, "--batch", draw.choice([1, 5, 8]), "--recipe", recipe, "--ranks", ranks, "--rank",
                draw.randrange(ranks), "--shuffle-blocks", draw.choice([0, 0, 4]))

    def start(self, out, cache):
        """One process, which the server knows by a number of its own."""
        user = f"run-{self.number}-{len(self.clients)}"
        silent = not self.clients and self.number % SILENT_EVERY == 0
        client = faulty_server.Client(self.draw.randrange(1 << 30), self.often, self.lasting, silent)
        self.clients.append(client)
        self.world.server.clients[user] = client
        host = f"127.0.0.1:{self.world.server.port}"
        web = self.scheme == "http"
        url = f"http://{user}:{SECRET}@{host}/data/{self.name}/" if web else f"s3://data/{self.name}/"
        self.shown = f"http://{host}/data/{self.name}/" if web else url
        words = [self.command[0], *(["dataset", url] if out else [url]), *self.command[2 if out else 1:], *self.rest,
                 *self.more, "--json"]
        words += ["--endpoint", f"http://{host}"] if not web else []
        words += ["--out", out, "--resume"] if out else []
        words += ["--cache-dir", cache, "--cache-size", self.draw.choice(SIZES)] if cache else []
        self.line = " ".join(map(str, words)).replace(SECRET, "…")
        return subprocess.Popen([self.world.program, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env={**self.world.environment, "AWS_ACCESS_KEY_ID": user})

    def judged(self, process, out):
        try:
            said, errors = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return "hung", ""
        if SECRET in said + errors:
            return "leaked", errors
        if process.returncode == 0:
            found = tree(out) if out else json.loads(said)["digest"]
            return ("right" if found == self.world.expected(self.name, self.command) else "wrong"), errors
        if process.returncode != 1:
            return "crashed", f"{process.returncode}: {errors}"
        if out and out.exists():
            return "unfinished", errors
        if self.shown not in said + errors:
            return "unnamed", said + errors
        return ("refused" if self.lasting else "gave up"), said + errors

    def ended(self):
        """(outcome, what was said), of the worst process."""
        with tempfile.TemporaryDirectory(dir=self.world.directory) as own:
            mine, all_runs = pathlib.Path(own) / "cache", self.world.directory / "cache"
            caches = {"alone": None, "shared cache": all_runs, "own cache": mine,
                      "several": self.draw.choice([all_runs, mine]), "killed": self.draw.choice([None, mine, all_runs])}
            outs = [pathlib.Path(own) / f"out-{i}" if self.command[0] == "convert" else None for i in range(3)]
            cache = caches[self.way]
            if self.way == "killed":
                for _ in range(self.draw.choice([1, 1, 3])):
                    process = self.start(outs[0], cache)
                    time.sleep(self.draw.random() * 0.4)
                    process.kill()
                    process.communicate()
            started = [self.start(out, cache) for out in (outs if self.way == "several" else outs[:1])]
            found = [self.judged(process, out) for process, out in zip(started, outs)]
            return next((one for one in found if one[0] not in GOOD), found[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("feedrate", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, metavar="RUN")
    parser.add_argument("--jobs", type=int, default=4, help="runs at once, which mostly wait")
    parser.add_argument("--world", type=pathlib.Path, help="a directory to make the datasets in, and to leave there")
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        directory = (options.world or pathlib.Path(temporary)).resolve()
        directory.mkdir(exist_ok=True)
        world = World(options.feedrate, directory)
        runs = [Run(world, options.seed, number) for number in range(options.runs)]
        if options.only is not None:
            runs = [runs[options.only]]
        outcomes = collections.Counter(dict.fromkeys(OUTCOMES, 0))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for run, (outcome, said) in zip(runs, pool.map(Run.ended, runs)):
                outcomes[outcome] += 1
                if outcome not in GOOD or options.only is not None:
                    print(f"run {run.number}: {outcome}: {run.way}, {run.lasting}, {run.line}\n{said}", file=sys.stderr)
        kept = b"".join(one.read_bytes()[:4096] for one in directory.glob("cache/*"))
        outcomes["leaked"] += SECRET.encode() in kept
        clients = [client for run in runs for client in run.clients]
    requests = sum(client.asked.total() for client in clients)
    faults = sum(client.faults for client in clients)
    print(json.dumps({"runs": len(runs), **outcomes, "processes": len(clients), "requests": requests, "faults": faults,
                      "seconds": round(time.monotonic() - began, 1)}))
    return 0 if set(+outcomes) <= GOOD else 1


if __name__ == "__main__":
    sys.exit(main())
