"""The samples for Ray and Dask make what one process makes, and keep the parts that are there."""

import filecmp
import importlib.util
import os
import subprocess
import sys
import unittest

import feedrate
from support import mnist, place

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../samples/cluster")
PATIENCE = 240  # seconds; a cluster starts several Python processes


class InteropCluster(unittest.TestCase):
    def run_sample(self, name, out):
        words = [sys.executable, os.path.join(SAMPLES, name), "mnist", place("mnist"), "--to", "recordio"]
        words += ["--encode", "png", "--shards", "6", "--parts", "3", "--out", out]
        # Their own directories would be /tmp/ray, and the current one.
        environment = {**os.environ, "RAY_TMPDIR": place("r"), "DASK_TEMPORARY_DIRECTORY": place("d")}
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check(self, module, sample):
        if importlib.util.find_spec(module) is None:
            self.skipTest(f"{module} is not installed: pip install {module}")
        mnist()  # makes the archive
        shape = {"to": "recordio", "encode": "png", "shards": 6}
        if not os.path.exists(place("one")):
            feedrate.convert("mnist", place("mnist"), out=place("one"), **shape)
        out = place(f"by-{module}")
        feedrate.convert("mnist", place("mnist"), out=out, part="2/3", **shape)
        kept = os.stat(f"{out}.part-2-of-3/data-00002-of-00006.rec").st_ino
        said = self.run_sample(sample, out)
        self.assertIn(".part-3-of-3: 200 images\n", said)
        self.assertIn(f"{out}: 600 images", said)
        self.assertEqual(os.stat(f"{out}/data-00002-of-00006.rec").st_ino, kept, "a whole part is kept")
        files = sorted(os.listdir(place("one")))
        self.assertEqual(sorted(os.listdir(out)), files)
        self.assertEqual(filecmp.cmpfiles(place("one"), out, files, shallow=False), (files, [], []))
        self.assertIn("whole already", self.run_sample(sample, out))

    def test_ray(self):
        self.check("ray", "convert_ray.py")

    def test_dask(self):
        self.check("distributed", "convert_dask.py")


if __name__ == "__main__":
    unittest.main()
