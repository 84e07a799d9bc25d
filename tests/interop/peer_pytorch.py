#!/usr/bin/env python3
"""Runs tools/lab/peers/pytorch.py with PyTorch itself in a bench.

    peer_pytorch.py FEEDRATE        needs torch, lmdb, pillow and numpy

Its readers of our formats must give the same pixels and labels: their content digests are compared."""
import json
import os
import pathlib
import sys
import tempfile

sys.path[0] += "/support"  # instead of this directory, whose modules would shadow packages

import numpy as np
import torch  # fail at once when it is not installed
from peer import ADAPTERS, check
from program import digest_of, equal, feedrate, verified

sys.path.append(str(ADAPTERS))
import datasets


def look(paths):
    for path in paths:
        stored = datasets.open_dataset(path, path.name.split("-", 1)[1])
        samples = [stored.read(i) for i in range(len(stored))]
        pixels = [np.ascontiguousarray(datasets.decode(sample)) for sample in samples]
        equal(digest_of((image if image.ndim == 3 else image[..., None], sample.label)
                        for image, sample in zip(pixels, samples)), verified(path),
              f"digest of {path.name}")


check("pytorch", ["lmdb", "recordio", "tfrecord", "png-map", "webdataset"], look)


def ways():
    """Every way to run it and every precision that a CPU knows train LeNet."""
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        os.environ |= {"FEEDRATE_PEERS": str(ADAPTERS), "FEEDRATE_PYTHON": sys.executable}
        feedrate("synth", "mnist", "--images", 600, "--out", work / "archives")
        feedrate("convert", "mnist", work / "archives", "--to", "recordio", "--split", "train",
                 "--out", work / "data")
        feedrate("bench", work / "data", "--tool", "pytorch,pytorch:compile,pytorch:cuda-graph",
                 "--network", "lenet", "--precision", "fp32,bf16", "--threads", 1, "--batch", 16,
                 "--repeat", 1, "--seconds", 0.2, "--beside-others", "--out", work / "rows.jsonl")
        rows = [json.loads(line) for line in (work / "rows.jsonl").read_text().splitlines()]
    found = sorted((row["tool"], row["precision"]) for row in rows if row["kind"] == "demand")
    equal(found, [(tool, precision) for tool in ("pytorch", "pytorch:compile")
                  for precision in ("bf16", "fp32")], "tools and precisions of demand")


ways()
