"""`feedrate diagnose --swap` around trainings with PyTorch: what takes the place of their loaders, and what it says.

FEEDRATE_PROGRAM names another program than the package's."""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

from diagnose_test import HERE, patience, program, there

if there("torch", "torchvision", "PIL", "numpy"):
    from like_test import picture


@unittest.skipUnless(there("torch", "torchvision", "PIL", "numpy", "feedrate"), "there is no torchvision")
class InteropSwap(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        for number in range(26):
            directory = pathlib.Path(cls.place.name) / f"class{number % 2}"
            directory.mkdir(exist_ok=True)
            picture(number, 60 + random.Random(number).randrange(40), 80).save(directory / f"{number}.jpg")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def run_swapped(self, *options, workers="1", script="swapped.py"):
        words = [program(), "diagnose", "--swap", *options, "--", sys.executable, HERE / script, self.place.name, workers]
        done = subprocess.run(words, capture_output=True, text=True, timeout=patience)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def loops(self, *options, **more):
        found = json.loads(self.run_swapped("--json", *options, **more).stdout)["loops"]
        return sorted(found, key=lambda loop: not loop["swap"]["swapped"])

    def test_replaces_what_it_can_and_says_why_not_the_rest(self):
        swapped, left = self.loops("--seconds", "0.2")
        self.assertEqual((swapped["steps"], swapped["swap"]["left"], swapped["swap"]["threads"]), (36, None, 1))
        self.assertIn("RandomPerspective is no part of recipes", left["swap"]["left"])
        swap = swapped["swap"]
        self.assertEqual((swap["data"], swap["pixels_samples"]), (self.place.name, 26))
        self.assertLessEqual(swap["pixels_largest"], 1.01)
        self.assertGreater(swap["supply_before"], 0)
        self.assertGreater(swap["supply_after"], 0)

    def test_the_script_sees_its_own_loader_and_as_many_samples(self):
        """And the same training twice, whether the two were measured or not."""
        said = self.run_swapped("--seconds", "0.1").stdout.split()
        self.assertEqual(said[:3], ["6", str(6 * (24 + 26)), "DataLoader"])
        self.assertEqual(self.run_swapped("--no-sweep", workers="0").stdout.split(), said)

    def test_says_the_lines_to_keep(self):
        said = self.run_swapped("--seconds", "0.1").stderr
        self.assertIn("train_loader = feedrate.torch.like(train_loader)", said)
        self.assertIn("Left as it is: ImageFolder, swapped.py", said)

    def test_converts_first_where_it_was_asked_to(self):
        with tempfile.TemporaryDirectory() as directory:
            swapped, _ = self.loops("--no-sweep", "--convert", directory, "--threads", "2")
            self.assertEqual(swapped["swap"]["threads"], 2)
            self.assertTrue(swapped["swap"]["data"].startswith(directory), swapped["swap"])
            self.assertTrue((pathlib.Path(swapped["swap"]["data"]) / "feedrate.json").exists())

    def test_names_the_file_that_is_where_it_converts_to(self):
        with tempfile.NamedTemporaryFile() as file:
            loops = self.loops("--no-sweep", "--convert", file.name)
            self.assertTrue(any(file.name in loop["swap"]["left"] for loop in loops), loops)

    @unittest.skipUnless(there("datasets"), "there are no datasets of Hugging Face")
    def test_a_table_is_copied_once_where_nothing_is_left(self):
        done = self.run_swapped("--json", "--seconds", "0.1", script="hub.py")
        loop, validation = json.loads(done.stdout)["loops"]
        self.assertIn("[91.0, 91.0]", done.stderr)
        self.assertEqual(loop["swap"]["data"], validation["swap"]["data"])
        self.assertLessEqual(loop["swap"]["pixels_largest"], 1.01)
        self.assertIn("feedrate-diagnose-", loop["swap"]["data"])
        self.assertFalse(pathlib.Path(loop["swap"]["data"]).exists())

    def test_loaders_that_are_made_anew_are_measured_and_converted_once(self):
        with tempfile.TemporaryDirectory() as directory:
            options = "--seconds", "0.1", "--convert", directory
            loops = self.loops(*options, script="again.py")
            self.assertEqual([loop["steps"] for loop in loops], [13, 2, 2, 2])
            measured = [loop["swap"]["supply_after"] is not None for loop in loops]
            self.assertEqual(measured, [True, True, False, False])
            self.assertEqual({loop["swap"]["data"] for loop in loops}, {str(pathlib.Path(directory) / "data-1")})

    def test_says_how_to_keep_a_loader_that_has_no_name(self):
        said = self.run_swapped("--no-sweep", script="again.py").stderr
        self.assertEqual(said.count("Swapped: "), 2)
        self.assertIn("ImageFolder, again.py:20", said)
        self.assertIn("Subset, again.py:17 (3 loaders)", said)
        self.assertIn("like(DataLoader(…)) for the DataLoader(…) in again.py:17.", " ".join(said.split()))

    def test_goes_on_where_pytorch_does(self):
        for options in ("--no-sweep",), ("--seconds", "0.1"):
            done = self.run_swapped(*options, script="at_once.py")
            self.assertEqual(done.stdout.split(), [str(7 * 27), "0"])
            said = " ".join(done.stderr.split())
            self.assertIn("Swapped: ImageFolder, at_once.py", said)
            self.assertIn("Mind: 1 sample left to the script's own decoding", said)
            self.assertIn("looks like TIFF", said)
            self.assertIn("like(DataLoader(…)) for the DataLoader(…) in at_once.py:16.", said)

    def test_a_loader_that_is_left_draws_what_it_would_have_drawn(self):
        done = self.run_swapped("--no-sweep", script="endless.py")
        self.assertIn("goes on: expected those of one epoch", " ".join(done.stderr.split()))
        alone = subprocess.run([sys.executable, HERE / "endless.py", self.place.name], capture_output=True, text=True)
        self.assertEqual(done.stdout, alone.stdout)

    def test_loaders_draw_what_pytorchs_do(self):
        """So that no two are alike, and the script goes on with the numbers of its run alone."""
        script = HERE / "seeds.py"
        alone = subprocess.run([sys.executable, script, self.place.name, "1"], capture_output=True, text=True)
        self.assertEqual(alone.stdout.split()[:2], ["0", "0"])
        for options in ("--no-sweep",), ("--seconds", "0.1"):
            done = self.run_swapped(*options, script="seeds.py")
            self.assertEqual(done.stderr.count("Swapped: "), 2)
            self.assertEqual(done.stdout, alone.stdout)

    def test_follows_a_transform_that_changes_and_leaves_what_it_has_nothing_like(self):
        done = self.run_swapped("--no-sweep", script="resized.py")
        self.assertEqual(done.stdout.split(), ["16", "24", "32"])
        said = " ".join(done.stderr.split())
        self.assertIn("Left as it is: ImageFolder, resized.py:15: what this loader was made of has changed since", said)
        self.assertIn("RandomPerspective is no part of recipes", said)
        self.assertNotIn("Swapped: ", said)

    def test_its_other_options_are_about_it_alone(self):
        done = subprocess.run([program(), "diagnose", "--threads", "2", "--", "true"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--swap", done.stderr)


if __name__ == "__main__":
    unittest.main()
