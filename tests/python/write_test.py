"""Any samples become the dataset that `convert` makes of the same ones."""

import contextlib
import gc
import importlib.util
import io
import itertools
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock

import feedrate
from support import folder, patience, place

SIDECAR = "feedrate.json"


def files_of(path):
    """Every file but the sidecar, which tells of inputs."""
    root = pathlib.Path(path)
    names = [name for name in root.rglob("*") if name.is_file() and name.name != SIDECAR]
    return {str(name.relative_to(root)): name.read_bytes() for name in sorted(names)}


def pictures():
    """(path, label, name) of each image of the folder, as `convert folder` names it."""
    dataset = feedrate.open(folder())
    root, classes = pathlib.Path(folder()), dataset.info["class_names"]
    samples = [dataset[index] for index in range(len(dataset))]
    return [(root / sample.name, sample.label, sample.name) for sample in samples], classes


class Rows:
    """What a map-style dataset of PyTorch's looks like."""

    def __init__(self, items, fault=None):
        self.items, self.fault = items, fault

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        if index == self.fault:
            raise KeyError(f"row {index}")
        return self.items[index]


class Pixels:
    """A buffer of u8, as NumPy's arrays are."""

    def __new__(cls, data, *shape):
        return memoryview(bytes(data)).cast("B", shape)


class Numbers:
    """Images that can be made in any process."""

    def __init__(self, count, seconds=0):
        self.count, self.seconds = count, seconds

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return Pixels([index % 256] * 12, 2, 2, 3), index % 5


class InteropWrite(unittest.TestCase):
    def out(self, name=None):
        return place(name or self.id().rpartition(".")[2])

    def same(self, one, other):
        self.assertEqual(list(one), list(other))
        for name in one:
            self.assertTrue(one[name] == other[name], name)

    def test_every_format_gets_the_bytes_that_convert_makes(self):
        items, classes = pictures()
        for to in ("lmdb", "recordio", "tfrecord", "png-map", "webdataset", "folder"):
            with self.subTest(to):
                encode = {"encode": "png"} if to == "png-map" else {}
                converted, written = self.out(f"converted-{to}"), self.out(f"written-{to}")
                feedrate.convert("folder", folder(), to=to, out=converted, **encode)
                done = feedrate.write(written, items, to=to, classes=classes, **encode)
                self.assertEqual(done["splits"][0]["samples"], len(items))
                self.same(files_of(converted), files_of(written))
                self.assertEqual(feedrate.verify(written, against=converted)["findings"], [])

    def test_any_number_of_processes_writes_the_same(self):
        items, classes = pictures()
        made = []
        for processes in (1, 3):
            path = self.out(f"by-{processes}")
            feedrate.write(path, Rows(items), classes=classes, shards=4, processes=processes)
            made.append(files_of(path))
        self.same(*made)

    def test_processes_are_started_in_any_way(self):
        rows = Numbers(200)
        made, before = [], multiprocessing.get_start_method()
        try:
            for method in ("fork", "spawn", "forkserver"):
                multiprocessing.set_start_method(method, force=True)
                feedrate.write(self.out(method), rows, processes=3)
                made.append(files_of(self.out(method)))
        finally:
            multiprocessing.set_start_method(before, force=True)
        feedrate.write(self.out("alone"), rows)
        for one in made:
            self.same(one, files_of(self.out("alone")))

    def test_ctrl_c_ends_all_processes_and_keeps_what_was_done(self):
        code = "import sys, feedrate; from write_test import Numbers; feedrate.write(sys.argv[1], Numbers(900, 0.01), processes=2)"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        words = [sys.executable, "-W", "ignore", "-c", code, self.out()]
        with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, start_new_session=True) as writing:
            deadline = time.monotonic() + patience
            while not os.path.exists(self.out() + ".partial"):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            time.sleep(0.5)
            os.killpg(writing.pid, signal.SIGINT)
            self.assertIn(b"KeyboardInterrupt", writing.communicate(timeout=patience)[1])
        with self.assertRaises(ProcessLookupError):
            os.killpg(writing.pid, 0)
        self.assertFalse(os.path.exists(self.out()))
        feedrate.write(self.out(), Numbers(900), processes=2, resume=True)
        feedrate.write(self.out("never-stopped"), Numbers(900))
        self.same(files_of(self.out("never-stopped")), files_of(self.out()))

    def test_parts_join_to_what_one_call_writes(self):
        items, classes = pictures()
        whole, parted = self.out("whole"), self.out("parted")
        feedrate.write(whole, items, classes=classes, shards=4)
        for part in ("1/2", "2/2"):
            feedrate.write(parted, Rows(items), classes=classes, shards=4, part=part, processes=2)
        subprocess.run([feedrate._program.program(), "convert", "--join", parted], check=True, timeout=patience)
        self.same(files_of(whole), files_of(parted))

    def test_pixels_are_those_of_arrays(self):
        images = [bytes((7 * i + j) % 256 for j in range(4 * 5 * 3)) for i in range(6)]
        feedrate.write(self.out(), ((Pixels(image, 4, 5, 3), i) for i, image in enumerate(images)))
        dataset = feedrate.open(self.out())
        for index, image in enumerate(images):
            self.assertEqual(dataset[index].image.tobytes(), image)
            self.assertEqual(dataset[index].label, index)
        self.assertEqual(dataset.info["classes"], 6)
        grey = self.out("grey")
        feedrate.write(grey, [(Pixels(bytes(6), 2, 3), 0)], to="lmdb")
        self.assertEqual(feedrate.open(grey)[0].image.shape, (2, 3, 1))

    def test_a_writer_makes_what_write_makes(self):
        items, classes = pictures()
        with feedrate.Writer(self.out("writer"), classes=classes) as writer:
            for item in items:
                writer.add(*item)
        self.assertEqual(writer.result["splits"][0]["samples"], len(items))
        feedrate.write(self.out("at-once"), iter(items), classes=classes)
        self.same(files_of(self.out("writer")), files_of(self.out("at-once")))

    def test_a_writer_that_is_left_by_an_exception_leaves_nothing(self):
        items, _ = pictures()
        with self.assertRaises(KeyError):
            with feedrate.Writer(self.out()) as writer:
                writer.add(*items[0])
                raise KeyError
        self.assertFalse(os.path.exists(self.out()))
        self.assertFalse(os.path.exists(self.out() + ".partial"))

    def test_goes_on_after_an_exception_and_reads_no_sample_twice(self):
        items, classes = pictures()
        for processes in (1, 2):
            whole, out = self.out(f"whole-{processes}"), self.out(f"resumed-{processes}")
            feedrate.write(whole, items, classes=classes)
            with self.assertRaisesRegex(KeyError, "row 40"):
                feedrate.write(out, Rows(items, fault=40), classes=classes, processes=processes)
            self.assertFalse(os.path.exists(out))
            done = feedrate.write(out, Rows(items), classes=classes, processes=processes, resume=True)
            self.assertGreater(done["splits"][0]["resumed_at"], 0)
            self.same(files_of(whole), files_of(out))
            again = feedrate.write(out, Rows(items), classes=classes, resume=True)
            self.assertEqual(again["splits"][0]["samples"], len(items))

    def test_a_failure_writes_nothing_into_files_that_are_opened_after_it(self):
        damaged = [(pictures()[0][0][0].read_bytes(), 0), *itertools.repeat((b"not an image", 0), 1 << 15)]

        def by_a_writer(samples):
            with feedrate.Writer(self.out("never")) as writer:
                for sample in samples:
                    writer.add(*sample)

        for name, way in {"write": lambda rows: feedrate.write(self.out("never"), rows), "writer": by_a_writer}.items():
            with self.subTest(name), contextlib.ExitStack() as closed:
                try:
                    way(damaged)
                except feedrate.DataError:  # it holds the frames of what failed
                    files = [closed.enter_context(open(self.out(f"{name}-{i}"), "wb")) for i in range(16)]
                gc.collect()
                self.assertEqual([os.fstat(file.fileno()).st_size for file in files], [0] * 16)

    def test_goes_on_after_a_kill(self):
        items, classes = pictures()
        code = """
import sys, time, pathlib, feedrate
rows = eval(sys.argv[2])
def slowly():
    for number, (path, label, name) in enumerate(rows):
        if number == 50:
            print("half", flush=True)
            time.sleep(600)
        yield pathlib.Path(path), label, name
feedrate.write(sys.argv[1], slowly(), classes=eval(sys.argv[3]))
"""
        rows = [(str(path), label, name) for path, label, name in items]
        words = [sys.executable, "-c", code, self.out(), repr(rows), repr(classes)]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as killed:
            self.assertEqual(killed.stdout.readline(), b"half\n")
            killed.kill()
        deadline = time.monotonic() + patience
        while not os.path.exists(self.out() + ".partial/progress.json"):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        while True:  # the program that the killed one had started holds its lock until it has saved
            try:
                done = feedrate.write(self.out(), iter(items), classes=classes, resume=True)
                break
            except feedrate.DataError as error:
                self.assertRegex(str(error), "another process")
                self.assertLess(time.monotonic(), deadline)
        self.assertGreater(done["splits"][0]["resumed_at"], 0)
        whole = self.out("never-killed")
        feedrate.write(whole, iter(items), classes=classes)
        self.same(files_of(whole), files_of(self.out()))

    def test_processes_do_not_outlive_who_started_them(self):
        code = "import sys, feedrate; from write_test import Numbers; feedrate.write(sys.argv[1], Numbers(9000, 0.01), processes=2)"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        words = [sys.executable, "-W", "ignore", "-c", code, self.out()]
        with subprocess.Popen(words, env=environment, start_new_session=True) as killed:
            deadline = time.monotonic() + patience
            while not os.path.exists(self.out() + ".partial"):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            time.sleep(0.5)
            killed.kill()
        while True:
            try:
                os.killpg(killed.pid, 0)
            except ProcessLookupError:
                break
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        self.assertFalse(os.path.exists(self.out()))

    def test_processes_of_a_launcher_share_the_work(self):
        def as_rank(rank):
            with unittest.mock.patch.dict(os.environ, {"RANK": rank, "WORLD_SIZE": "2"}):
                feedrate.write(self.out(), Numbers(100), shards=8, part="auto")

        as_rank("0")
        self.assertFalse(os.path.exists(self.out()))
        as_rank("1")
        feedrate.write(self.out("by-one"), Numbers(100), shards=8)
        self.same(files_of(self.out("by-one")), files_of(self.out()))

    def test_classes_without_names_are_counted_in_every_format(self):
        items, _ = pictures()
        for to in ("lmdb", "recordio", "tfrecord", "webdataset", "folder"):
            with self.subTest(to):
                feedrate.write(self.out(f"counted-{to}"), items, to=to, classes=2000)
                self.assertEqual(feedrate.open(self.out(f"counted-{to}")).info["classes"], 2000)

    def test_a_path_may_be_bytes(self):
        items, _ = pictures()
        feedrate.write(os.fsencode(self.out()), items)
        self.assertEqual(len(feedrate.open(self.out())), len(items))

    def test_keeps_what_is_there(self):
        items, _ = pictures()
        feedrate.write(self.out(), items)
        before = files_of(self.out())
        with self.assertRaisesRegex(feedrate.DataError, "exists"):
            feedrate.write(self.out(), items)
        self.same(before, files_of(self.out()))

    def test_limits_end_the_samples_early(self):
        endless = ((Pixels(bytes([i % 256] * 4), 2, 2), 0) for i in itertools.count())
        done = feedrate.write(self.out(), endless, limit=100)
        self.assertEqual(done["splits"][0]["samples"], 100)


@unittest.skipUnless(importlib.util.find_spec("PIL"), "Pillow is not installed")
class InteropWritePillow(unittest.TestCase):
    def test_images_are_pixels(self):
        from PIL import Image

        images = [Image.new("RGB", (5, 4), (i, 2, 3)) for i in range(3)]
        feedrate.write(place("pillow"), [(image, 0) for image in images])
        self.assertEqual(feedrate.open(place("pillow"))[1].image.tobytes(), images[1].tobytes())
        with self.assertRaisesRegex(ValueError, "item 0: .*found RGBA"):
            feedrate.write(place("never"), [(Image.new("RGBA", (2, 2)), 0)])
        cut = io.BytesIO()
        Image.effect_noise((64, 64), 50).save(cut, "JPEG")
        cut.truncate(700)
        with self.assertRaisesRegex(ValueError, "item 1: image: Pillow cannot decode it"):
            feedrate.write(place("never"), [(images[0], 0), (Image.open(cut), 0)])


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
class InteropWriteTorch(unittest.TestCase):
    def test_a_dataset_of_tensors(self):
        import torch

        images = torch.arange(5 * 3 * 4 * 6, dtype=torch.int32).reshape(5, 3, 4, 6).to(torch.uint8)
        rows = torch.utils.data.TensorDataset(images, torch.arange(5))
        feedrate.write(place("tensors"), rows, processes=2)
        for index, sample in enumerate(feedrate.open(place("tensors"))):
            self.assertEqual(sample.image.tolist(), images[index].permute(1, 2, 0).tolist())
            self.assertEqual(sample.label, index)
        with self.assertRaisesRegex(TypeError, "item 0: .*uint8.*float32"):
            feedrate.write(place("never"), [(images[0].float(), 0)])


@unittest.skipUnless(importlib.util.find_spec("datasets"), "Hugging Face datasets is not installed")
class InteropWriteHub(unittest.TestCase):
    def test_a_dataset_of_the_hub(self):
        import datasets

        items, classes = pictures()
        features = datasets.Features({"image": datasets.Image(decode=False), "label": datasets.ClassLabel(names=classes)})
        rows = {"image": [str(path) for path, _, _ in items], "label": [label for _, label, _ in items]}
        hub = datasets.Dataset.from_dict(rows, features=features)
        feedrate.write(place("hub"), hub)
        feedrate.write(place("direct"), [(path, label) for path, label, _ in items], classes=classes)
        self.assertEqual(files_of(place("hub")), files_of(place("direct")))
        self.assertEqual(feedrate.open(place("hub")).info["class_names"], classes)


if __name__ == "__main__":
    unittest.main()
