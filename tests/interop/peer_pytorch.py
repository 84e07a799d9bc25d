#!/usr/bin/env python3
"""Runs tools/peers/pytorch.py with PyTorch itself in a bench.

    peer_pytorch.py FEEDRATE        needs torch, lmdb, pillow and numpy

Its readers of our formats must give the same pixels and labels: their content digests are compared."""
import sys

sys.path[0] += "/support"  # instead of this directory, whose modules would shadow packages

import numpy as np
import torch  # fail at once when it is not installed
from peer import ADAPTERS, check
from program import digest_of, equal, verified

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
