"""Bad input becomes Python exceptions by kind, and nothing is printed."""

import array
import os
import shutil
import unittest

import feedrate
from support import mnist, photographs, place, python


def damaged():
    """A copy of the photographs whose sample 20 is cut by zeros; the path, and that sample's byte."""
    path = place("damaged")
    if not os.path.exists(path):
        shutil.copytree(photographs(), path)
        file, byte = feedrate.open(path)._native.place(20)
        with open(file, "r+b") as data:
            data.seek(byte + 200)
            data.write(bytes(400))
    return path, feedrate.open(path)._native.place(20)[1]


class HostileErrors(unittest.TestCase):
    def test_what_is_not_there_is_not_found(self):
        for call in feedrate.open, feedrate.Loader, feedrate.verify, feedrate.inspect, feedrate.advise:
            with self.assertRaises(FileNotFoundError) as raised:
                call("no/such/dataset")
            self.assertEqual(raised.exception.filename, "no/such/dataset")
        with self.assertRaises(FileNotFoundError):
            feedrate.convert("mnist", "no/such/archive", to="lmdb", out=place("never"))

    def test_what_is_no_dataset_names_its_path(self):
        mnist()
        with self.assertRaisesRegex(feedrate.DataError, "holds no dataset") as raised:
            feedrate.open(place("mnist"))
        self.assertEqual(raised.exception.file, place("mnist"))
        self.assertIsNone(raised.exception.sample)

    def test_options_are_refused_with_the_nearest_name(self):
        for options, words in (
            ({"recipe": "mnits"}, "did you mean mnist"),
            ({"recipe": "imagenet-trian"}, "did you mean imagenet-train"),
            ({"recipe": "imagenet-train:siez=160"}, "did you mean size"),
            ({"recipe": "imagenet-train:size=0"}, "whole number from 1 to 4096, found '0'"),
            ({"recipe": "flip+color-jiter"}, "did you mean color-jitter"),
            ({"recipe": "color-jitter+flip"}, "flip cannot stand behind color-jitter"),
            ({"order": [0, 600]}, "index 600 at place 1"),
            ({"order": [5, -1]}, "index -1 at place 1: expected 0 to 599"),
            ({"order": []}, "lists no samples"),
            ({"weights": [1.0]}, "found 1, expected one for each of the 600"),
            ({"weights": [-1.0] * 600}, "expected 0 or more"),
            ({"weights": "balance"}, "'balanced'"),
            ({"weights": []}, "found 0, expected one for each of the 600"),
            ({"order": [1], "weights": "balanced"}, "exclude each other"),
            ({"groups": (11, 2), "batch": 22}, "11 classes requested, the dataset has samples of 10"),
            ({"groups": (5, 2), "batch": 64}, "expected a multiple"),
            ({"groups": (5, 2), "batch": 10, "shuffle": True}, "tear groups apart"),
            ({"draws": 5}, "needs weights or a mix"),
            ({"last": "dorp"}, "did you mean drop"),
            ({"pixels": "f31"}, "did you mean f32"),
            ({"layout": "nhcw"}, "did you mean nhwc"),
            ({"on_bad": "skipp"}, "did you mean skip"),
            ({"decode": "scald"}, "did you mean scaled"),
            ({"decode": "scaled", "recipe": "mnist"}, "only JPEGs"),
            ({"batch": 0}, "batch: expected a whole number from 1"),
            ({"threads": 257}, "threads: expected .* 256, found 257"),
            ({"threads": 2.5}, "found 2.5"),
            ({"epochs": 0}, "epochs: expected 1 or more"),
            ({"rank": 2, "ranks": 2}, "rank 2 of 2"),
            ({"mean": 3.0}, "need pixels='f32'"),
            ({"pixels": "f32", "mean": [1, 2]}, "mean"),
            ({"batch": 1000, "last": "drop"}, "no batch"),
        ):
            with self.subTest(options), self.assertRaisesRegex(ValueError, words):
                feedrate.Loader(mnist(), **options)
        with self.assertRaisesRegex(ValueError, "did you mean --against"):
            feedrate.verify(mnist(), agains="x")
        with self.assertRaisesRegex(ValueError, "--encode: no encoding 'jpg'"):
            feedrate.convert("dataset", mnist(), to="recordio", out=place("never"), encode="jpg")
        with self.assertRaisesRegex(ValueError, "position: expected .* 600, found 601"):
            feedrate.Loader(mnist()).load_state_dict({"seed": 1, "epoch": 0, "position": 601})
        with self.assertRaisesRegex(ValueError, "'position'"):
            feedrate.Loader(mnist()).load_state_dict({"seed": 1, "epoch": 0})

    def test_a_path_may_look_like_an_option(self):
        feedrate.convert("dataset", mnist(), to="recordio", out=place("--all"), limit=2)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(os.path.dirname(place("--all")))
        self.assertEqual(feedrate.inspect("--all")["samples"], 2)

    def test_indices_outside_the_dataset_are_refused(self):
        dataset = feedrate.open(mnist())
        for index in 600, -601, 2**64:
            with self.assertRaises(IndexError):
                dataset[index]
        self.assertEqual(dataset[-600].image.tobytes(), dataset[0].image.tobytes())

    def test_a_damaged_sample_is_known_by_file_sample_and_byte(self):
        path, byte = damaged()
        for threads in 0, 1, 4:
            loader = feedrate.Loader(path, "imagenet-eval", batch=8, threads=threads, shuffle=False)
            with self.assertRaisesRegex(feedrate.DataError, "20") as raised:
                for batch in loader:
                    pass
            self.assertEqual(batch.number, 1, "those before it were handed out")
            error = raised.exception
            self.assertEqual((error.sample, error.byte), (20, byte))
            self.assertTrue(os.path.samefile(error.file, os.path.join(path, "data.rec")))
        with self.assertRaises(feedrate.DataError) as raised:
            feedrate.open(path)[20]
        self.assertEqual((raised.exception.sample, raised.exception.byte), (20, byte))

    def test_a_damaged_sample_can_be_left_out(self):
        loader = feedrate.Loader(damaged()[0], "imagenet-eval", batch=64, on_bad="skip")
        indices = array.array("q", next(iter(loader)).indices.tobytes())
        self.assertEqual(sorted(indices), [index for index in range(64) if index != 20])

    def test_faults_that_verify_finds_are_its_result(self):
        result = feedrate.verify(damaged()[0])
        self.assertTrue(any("20" in finding["place"] for finding in result["findings"]))
        self.assertEqual(feedrate.verify(mnist())["findings"], [])

    def test_nothing_is_printed(self):
        code = """
import sys, feedrate
path, damaged, out = sys.argv[1:]
feedrate.convert("dataset", path, to="tfrecord", out=out)
feedrate.inspect(path); feedrate.verify(damaged)
for batch in feedrate.Loader(path, threads=2): pass
try: list(feedrate.Loader(damaged, "imagenet-eval"))
except feedrate.DataError: pass
"""
        done = python(code, mnist(), damaged()[0], place("quiet"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
