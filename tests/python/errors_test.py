"""Bad input becomes Python exceptions by kind, and nothing is printed."""

import array
import os
import shutil
import unittest

import feedrate
from support import folder, mnist, photographs, place, python


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
            ({"recipe": "mixup+flip"}, "flip cannot stand behind mixup"),
            ({"order": [0, 600]}, "order: at place 1: expected a whole number from 0 to 599, found 600"),
            ({"order": [5, -1]}, "order: at place 1: .* from 0 to 599, found -1"),
            ({"order": [2**70]}, "order: at place 0: .* found 1180591620717411303424"),
            ({"order": []}, "lists no samples"),
            ({"weights": [1.0]}, "found 1, expected one for each of the 600"),
            ({"weights": [-1.0] * 600}, "expected 0 or more"),
            ({"weights": "balance"}, "'balanced'"),
            ({"weights": []}, "found 0, expected one for each of the 600"),
            ({"order": [1], "weights": "balanced"}, "exclude each other"),
            ({"groups": (11, 2), "batch": 22}, "11 classes requested, the dataset has samples of 10"),
            ({"groups": (5, 2), "batch": 64}, "expected a multiple"),
            ({"groups": (5,)}, r"groups: expected two numbers, .* found \(5,\)"),
            ({"groups": (5, 0)}, "groups: at place 1: expected a whole number from 1"),
            ({"groups": (5, 2), "batch": 10, "shuffle": True}, "tear groups apart"),
            ({"window": 9, "shuffle": False}, "window is for shuffling, not for shuffle=False"),
            ({"window": 9, "order": [1]}, "window is for the order of one dataset"),
            ({"shuffle": False, "weights": "balanced"}, "shuffle=False is not for weights or groups"),
            ({"draws": 5}, "needs weights or a mix"),
            ({"draws": 0, "weights": "balanced"}, "draws: expected a whole number from 1 to 1000000000000"),
            ({"last": "dorp"}, "did you mean drop"),
            ({"pixels": "f31"}, "did you mean f32"),
            ({"layout": "nhcw"}, "did you mean nhwc"),
            ({"on_bad": "skipp"}, "did you mean skip"),
            ({"decode": "scald"}, "did you mean scaled"),
            ({"decode": "scaled", "recipe": "mnist"}, "decode='scaled': .* does not make images smaller"),
            ({"decode": "scaled", "recipe": "imagenet-train"}, "only JPEGs"),
            ({"batch": 0}, "batch: expected a whole number from 1"),
            ({"threads": 257}, "threads: expected a whole number from 0 to 256 or 'auto', found 257"),
            ({"epochs": 0}, "epochs: expected a whole number from 1 to 1000000 or None, found 0"),
            ({"epochs": 2**62}, "epochs: expected"),
            ({"seed": -1}, "seed: expected a whole number of at least 0, found -1"),
            ({"recipe": "none\0"}, r"recipe: expected a name, found 'none\\x00'"),
            ({"rank": 2, "ranks": 2}, "rank: expected a rank below the number of ranks, 2, found 2"),
            ({"mean": 3.0}, "mean needs pixels='f32'"),
            ({"pixels": "f32", "mean": [1, 2]}, "mean"),
            ({"pixels": "f32", "mean": 0.5, "deviation": 0.5}, "of pixels from 0 to 255"),
            ({"batch": 1000, "last": "drop"}, "last: an epoch of 600 images gives rank 0 of 1 no batch"),
            ({"order": [7], "batch": 2, "last": "drop"}, r"an epoch of 1 image gives .* \(of 2 images\)"),
            ({"weights": "\udcff"}, r"weights: .* found '\\udcff'"),
        ):
            with self.subTest(options), self.assertRaisesRegex(ValueError, words):
                feedrate.Loader(mnist(), **options)
        with self.assertRaisesRegex(ValueError, "did you mean --against"):
            feedrate.verify(mnist(), agains="x")
        with self.assertRaisesRegex(ValueError, "--encode: no encoding 'jpg'"):
            feedrate.convert("dataset", mnist(), to="recordio", out=place("never"), encode="jpg")
        with self.assertRaisesRegex(ValueError, "position 601 is beyond the 600 images"):
            feedrate.Loader(mnist()).load_state_dict({"seed": 1, "epoch": 0, "position": 601})
        with self.assertRaisesRegex(ValueError, "state: epoch: expected .* from 0 to 1000000000000, found 9223"):
            feedrate.Loader(mnist()).load_state_dict({"seed": 1, "epoch": 2**63, "position": 0})
        with self.assertRaisesRegex(ValueError, "'position'"):
            feedrate.Loader(mnist()).load_state_dict({"seed": 1, "epoch": 0})

    def test_names_of_any_bytes_come_back_as_python_has_them(self):
        root = place("any\udcff")
        shutil.copytree(folder(), root)
        first = feedrate.open(root)[0].name
        odd = os.path.join(root, os.path.dirname(first), "\udcfe.jpg")
        os.rename(os.path.join(root, first), odd)
        dataset = feedrate.open(root)
        index = [sample.name for sample in dataset].index(os.path.relpath(odd, root))
        self.assertEqual(dataset._native.place(index)[0], odd)
        os.truncate(odd, 10)
        with self.assertRaises(feedrate.DataError) as raised:
            list(feedrate.Loader(dataset, "imagenet-train", shuffle=False))
        self.assertEqual((raised.exception.file, raised.exception.sample), (odd, index))
        self.assertTrue(str(raised.exception).startswith(odd), ascii(str(raised.exception)))
        with self.assertRaises(ValueError) as raised:
            feedrate.mix({root: 1, mnist(): 1})
        self.assertIn(root, str(raised.exception))
        os.mkdir(root + "/none")
        for command in feedrate.verify, feedrate.inspect, feedrate.open:
            with self.assertRaises(feedrate.DataError) as raised:
                command(root + "/none")
            self.assertIn(root, str(raised.exception))

    def test_values_of_another_type_are_told_from_values_that_are_wrong(self):
        class Shown:
            def __repr__(self):
                return "\udcff"

        for options, words in (
            ({"shuffle": 1}, "shuffle: expected True, False or None, found 1"),
            ({"crop_index": 0}, "crop_index: expected True or False, found 0"),
            ({"recipe": None}, "recipe: expected a name, found None"),
            ({"pixels": None}, "pixels: expected 'u8', 'f32' or 'f16', found None"),
            ({"layout": 3}, "layout: expected 'nhwc', 'nchw' or None, found 3"),
            ({"mean": "3"}, "mean: expected a number, or several, found '3'"),
            ({"mean": [1, None]}, "mean: at place 1: expected a number from 0 to 255, found None"),
            ({"weights": [1, "x"]}, "weights: at place 1: expected a number, found 'x'"),
            ({"order": "abc"}, "order: expected whole numbers, found 'abc'"),
            ({"groups": 5}, "groups: expected whole numbers, found 5"),
            ({"order": [0.5]}, "order: at place 0: .* found 0.5"),
            ({"order": [True, False] * 300}, "order: at place 0: expected a whole number .*, found True"),
            ({"batch": True}, "batch: expected a whole number from 1 to 65536, found True"),
            ({"threads": 2.5}, "found 2.5"),
            ({"threads": None}, "or 'auto', found None"),
            ({"batch": "1"}, "batch: expected a whole number from 1 to 65536, found '1'"),
            ({"batch": [2]}, "batch: expected a whole number"),
            ({"mean": b"1"}, "mean: expected a number, or several, found b'1'"),
            ({"mean": {1: 2}}, "mean: expected a number, or several"),
            ({"mean": {1}}, "mean: expected a number, or several"),
            ({"weights": b"1" * 600}, "weights: expected"),
            ({"order": b"\1\2"}, "order: expected whole numbers"),
            ({"bach": 3}, "no setting 'bach'; did you mean batch"),
            ({"num_workers": 2}, "num_workers: here it is threads=; feedrate.torch.DataLoader has the arguments of"),
            ({"drop_last": True}, "drop_last: here it is last='drop';"),
            ({"pin_memory": True}, "pin_memory: feedrate.torch.DataLoader has"),
            ({"\udcff": 3}, r"no setting ''\\udcff''"),
            ({"seed": Shown()}, r"seed: .* found \\udcff"),
        ):
            with self.subTest(options), self.assertRaisesRegex(TypeError, words):
                feedrate.Loader(mnist(), **options)
        for call, words in (
            (lambda: feedrate.mix(None), "datasets: expected a dict of datasets and weights, found None"),
            (lambda: feedrate.mix({3: 1}), "datasets: expected a dataset of feedrate.open or its path, found 3"),
            (lambda: feedrate.mix({mnist(): "a"}), "datasets: at place 0: expected a number, found 'a'"),
            (lambda: feedrate.Loader(None), "dataset: expected a dataset of feedrate.open or its path, found None"),
            (lambda: feedrate.Dataset(mnist()), r"a Dataset is made by feedrate.open\(path\); found '"),
            (lambda: feedrate.open(3), "path: expected a path, found 3"),
            (lambda: feedrate.verify(None), "path: expected a path, found None"),
            (lambda: feedrate.recipe(None), "recipe: expected a name, found None"),
            (lambda: feedrate.recipe("imagenet-train", size=None), "size: expected a number, or two, found None"),
            (lambda: feedrate.random_resized_crop(scale=(0, None)), "scale: expected a number, or two, found None"),
        ):
            with self.subTest(words), self.assertRaisesRegex(TypeError, words):
                call()
        with self.assertRaisesRegex(TypeError, "state: expected a dict .* found None"):
            feedrate.Loader(mnist()).load_state_dict(None)
        with self.assertRaisesRegex(TypeError, "recipe: expected a name"):
            feedrate.flip() | "\udcff"

    def test_what_stands_for_a_whole_number_is_one(self):
        class Number:
            def __init__(self, value):
                self.value = value

            def __index__(self):
                return self.value

        loader = feedrate.Loader(mnist(), batch=Number(64), seed=Number(7), order=map(Number, range(99)))
        self.assertEqual(loader.state_dict(), {"seed": 7, "epoch": 0, "position": 0})
        loader.load_state_dict({"seed": Number(7), "epoch": Number(0), "position": Number(64)})
        self.assertEqual([len(batch) for batch in loader], [35])
        recipe = feedrate.recipe("imagenet-train", size=Number(64))
        self.assertEqual(recipe, "imagenet-train:size=64")

    def test_an_exception_in_an_iterable_passes(self):
        def indices():
            yield 1
            raise KeyError("mine")

        for options in {"order": indices()}, {"weights": indices()}:
            with self.assertRaisesRegex(KeyError, "mine"):
                feedrate.Loader(mnist(), **options)

    def test_paths_may_be_bytes(self):
        self.assertEqual(len(feedrate.open(mnist().encode())), 600)
        self.assertEqual(len(feedrate.Loader(mnist().encode()).dataset), 600)
        with self.assertRaises(FileNotFoundError) as raised:
            feedrate.open(b"no/such/dataset")
        self.assertEqual(raised.exception.filename, b"no/such/dataset")

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
