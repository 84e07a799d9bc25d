"""Type checkers know what loaders yield, and find no fault in the package."""

import importlib.util
import os
import subprocess
import sys
import unittest

import feedrate
from support import place

USER = """
import torch
from typing_extensions import assert_type
import feedrate

for batch in feedrate.Loader("data", "mnist", batch=64, pixels="f32", mean=33.3):
    assert_type(batch, feedrate.Batch)
    assert_type(batch.images.shape, tuple[int, ...])
    assert_type(batch.labels.tolist(), list[int])
    assert_type(batch.labels[0], int)
    assert_type(batch.labels[1:], feedrate.Array[int])
    assert_type(sum(batch.indices), int)
    assert_type([plane.shape for image in batch.images for plane in image], list[tuple[int, ...]])
for batch_of_rows in feedrate.Loader("data", labels=[[0.5, 1], [1, 0]], weights="balanced"):
    assert_type(batch_of_rows.labels.tolist(), list[list[float]])
for batch_of_numbers in feedrate.Loader("data", labels=[0.5, 1.5]):
    assert_type(batch_of_numbers.labels[0], float)


def plain(images: feedrate.Array, batch: feedrate.Batch) -> None: ...
for size in feedrate.Loader("data", transform=len):
    assert_type(size, int)
dataset = feedrate.open("data")
remote = feedrate.open("https://host/data/", connections=8, cache_dir="cache")
assert_type(remote, feedrate.Dataset)
assert_type(dataset[0].label, int)
assert_type(dataset[0].image.tolist(), list[list[list[int]]])
assert_type(dataset.info["class_names"], list[str])
assert_type(dataset.targets, list[int])
made = feedrate.convert("mnist", "archives", to="lmdb", out="data", shards=4)
assert_type([split["samples"] for split in made["splits"]], list[int])
made["split"]  # type: ignore[typeddict-item]
written = feedrate.write("data", [(b"", 0)], classes=["cat"], processes=2, encode="png")
assert_type([split["path"] for split in written["splits"]], list[str])
with feedrate.Writer("data", to="lmdb") as writer:
    assert_type(writer.add(b"", 1, "name"), None)
assert_type(feedrate.verify("data", against="other")["complete"], bool)
assert_type(feedrate.advise("data", target=3000)["now"]["threads"], int)
"""
TORCH = """
for images, labels in feedrate.torch.DataLoader("data", batch_size=64, num_workers=2, drop_last=True, std=[1.0]):
    assert_type(images, torch.Tensor)
    assert_type(labels, torch.Tensor)
subset = torch.utils.data.Subset(feedrate.torch.Dataset(dataset), [1, 2])
for images, labels, indices in feedrate.torch.DataLoader(subset, indices=True, threads="auto"):
    assert_type(indices, torch.Tensor)

def named(images: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"pixel_values": images, "labels": labels}

for inputs in feedrate.torch.DataLoader(dataset, transform=named):
    assert_type(inputs, dict[str, torch.Tensor])
image, label = feedrate.torch.Dataset(dataset)[0]
assert_type(image, torch.Tensor)
assert_type(label, int)
feedrate.torch.DataLoader("data", collate_fn=list)  # type: ignore[call-overload]
"""


@unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
class InteropTypes(unittest.TestCase):
    def check(self, code):
        """What mypy says of a program and of the package."""
        path = place("user.py")
        with open(path, "w") as file:
            file.write(code)
        package = os.path.dirname(feedrate._native.__file__)
        if not os.path.exists(os.path.join(package, "_native.pyi")):
            self.skipTest("a sanitized module has no stubs")
        words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", place("mypy"), path]
        environment = {**os.environ, "MYPYPATH": os.path.dirname(package)}
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
        return done.stdout + done.stderr

    def test_what_users_write_has_types(self):
        code = USER if importlib.util.find_spec("torch") else USER.replace("import torch\n", "")
        if importlib.util.find_spec("torch"):
            code += TORCH
        self.assertRegex(self.check(code), "^Success")


if __name__ == "__main__":
    unittest.main()
