#!/usr/bin/env python3
"""PyTorch fed by Feedrate: pytorch.py's modules and optimizers, with feedrate.torch.DataLoader in place of
PyTorch's own. Its rows stand beside pytorch's in a report: what another loader does for the same training."""

import common

with common.imports():
    import pytorch


def load():
    import feedrate.torch

    peer = pytorch.load()

    class Fed(type(peer)):
        name = "pytorch+feedrate"
        version = f"{peer.version} with feedrate {feedrate.__version__}"
        formats = ["lmdb", "recordio", "tfrecord", "png-map", "webdataset", "folder"]
        recipes = list(feedrate.recipes())

        def ready(self, options):
            return max(3, options.threads + 2)  # slots

        def batches(self, options, graph):
            loader = feedrate.torch.DataLoader(
                options.dataset, options.recipe, batch_size=options.batch, drop_last=True,
                threads=options.threads, seed=options.seed)
            workers = set(range(max(1, options.threads)))
            while True:
                for images, labels in loader:
                    yield (images, labels), len(labels), workers

    return Fed()


if __name__ == "__main__":
    common.main(load)
