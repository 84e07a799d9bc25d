"""The trainings of samples/python: with PyTorch's loader, and with the changes that samples/README.md shows."""

import importlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import folder

SAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "samples"
PYTHON = SAMPLES / "python"
TRAININGS = {
    "train_imagenet.py": ("torch torchvision", ["--arch", "shufflenet_v2_x0_5"]),
    "train_timm.py": ("torch timm", ["--model", "test_vit"]),
    "train_lightning.py": ("torch torchvision lightning", ["--arch", "shufflenet_v2_x0_5"]),
}
MOST = 10  # lines that change


@unittest.skipUnless(PYTHON.is_dir(), "the samples are not beside the tests")
@unittest.skipUnless(shutil.which("patch"), "there is no program patch")
class InteropSamples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(PYTHON))
        sys.dont_write_bytecode = True
        cls.before_after = importlib.import_module("before_after")

    def test_the_page_shows_how_few_lines_change(self):
        with tempfile.TemporaryDirectory() as directory:
            for script in TRAININGS:
                before = pathlib.Path(directory) / script
                self.before_after.write_before(script, before)
                self.assertNotIn("feedrate.", before.read_text().replace("feedrate convert", ""))
                lines = self.before_after.diff_of(script).splitlines()[2:]
                for sign in "-+":
                    changed = [line for line in lines if line.startswith(sign) and line != sign]
                    self.assertLessEqual(len(changed), MOST, script)
                compile(before.read_text(), script, "exec")

    def test_each_trains_with_either_loader(self):
        for script, (needs, network) in TRAININGS.items():
            with self.subTest(script), tempfile.TemporaryDirectory() as directory:
                missing = [name for name in needs.split() if importlib.util.find_spec(name) is None]
                if missing:
                    self.skipTest(f"{missing[0]} is not installed")
                for part in "train", "val":
                    os.symlink(folder(), os.path.join(directory, part))
                words = [directory, *network, "--epochs", "1", "--batch-size", "16", "--workers", "2"]
                done = subprocess.run(
                    [sys.executable, PYTHON / "before_after.py", script, "--turns", "1", *words],
                    capture_output=True, text=True, cwd=directory, env={**os.environ, "OMP_NUM_THREADS": "1"},
                )  # fmt: skip
                self.assertRegex(done.stdout, rf"{script}: before [0-9.]+, after [0-9.]+ images/s", done.stderr)


if __name__ == "__main__":
    unittest.main()
