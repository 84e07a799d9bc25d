"""What is known of a dataset without a loader, arrays, and labels of one's own."""

import array
import copy
import fractions
import json
import os
import pickle
import re
import struct
import unittest

import feedrate
from support import IMAGES, mnist, photographs, place, shell


MAGIC = 0xCED7230A  # of a RecordIO record


def listed(lists):
    """A RecordIO file of photographs whose records have these lists of labels, as MXNet's im2rec makes it."""
    source = feedrate.open(photographs())
    path = place("listed.rec")
    with open(path, "wb") as out:
        for index, labels in enumerate(lists):
            file, byte = source._native.place(index)
            with open(file, "rb") as records:
                records.seek(byte)
                magic, size = struct.unpack("<II", records.read(8))
                image = records.read(size)[24:]
            assert magic == MAGIC
            head = struct.pack("<IfQQ", len(labels), 0.0, index, 0)
            record = head + struct.pack(f"<{len(labels)}f", *labels) + image
            out.write(struct.pack("<II", MAGIC, len(record)) + record + bytes(-len(record) % 4))
    return path


def two_labels(path, images):
    """An MDS dataset of these images, whose columns coarse and fine hold their place modulo 2 and their place."""
    os.mkdir(path)
    rows = [struct.pack("<I", len(image)) + image + struct.pack("<qq", at % 2, at) for at, image in enumerate(images)]
    ends = [4 * (len(rows) + 2)]
    for row in rows:
        ends.append(ends[-1] + len(row))
    shard = struct.pack(f"<{len(ends) + 1}I", len(rows), *ends) + b"".join(rows)
    with open(os.path.join(path, "shard.00000.mds"), "wb") as file:
        file.write(shard)
    facts = {
        "format": "mds",
        "version": 2,
        "compression": None,
        "samples": len(rows),
        "column_names": ["image", "coarse", "fine"],
        "column_encodings": ["jpeg", "int", "int"],
        "column_sizes": [None, 8, 8],
        "raw_data": {"basename": "shard.00000.mds", "bytes": len(shard)},
    }
    with open(os.path.join(path, "index.json"), "w", encoding="utf-8") as file:
        json.dump({"version": 2, "shards": [facts]}, file)
    return path


class UnitDataset(unittest.TestCase):
    def test_classes_and_targets_are_those_of_the_samples(self):
        for path in mnist(), photographs():
            dataset = feedrate.open(path)
            self.assertEqual(dataset.targets, [sample.label for sample in dataset])
            self.assertEqual(dataset.class_to_idx, {name: at for at, name in enumerate(dataset.classes)})
            self.assertEqual(dataset.label_lists, [[]] * len(dataset))
        both = feedrate.mix({mnist(): 1, mnist("recordio"): 1})
        self.assertEqual(both.targets, feedrate.open(mnist()).targets + feedrate.open(mnist("recordio")).targets)

    def test_the_targets_of_a_folder_take_no_image(self):
        path = place("emptied")
        feedrate.convert("dataset", photographs(), to="folder", out=path)
        expected = feedrate.open(path).targets
        self.assertEqual(expected, [sample.label for sample in feedrate.open(path)])
        os.truncate(feedrate.open(path)._native.place(40)[0], 0)
        self.assertEqual(feedrate.open(path).targets, expected)
        with self.assertRaises(feedrate.DataError):
            feedrate.open(path)[40]

    def test_a_path_may_name_columns_and_be_a_pattern(self):
        path = place("tars")
        feedrate.convert("dataset", photographs(), to="webdataset", shards=3, out=path)
        pattern = os.path.join(path, "train-{000000..000002}.tar")
        self.assertEqual(feedrate.open(pattern).targets, feedrate.open(path).targets)
        self.assertEqual(feedrate.inspect(pattern)["samples"], len(feedrate.open(path)))
        with self.assertRaisesRegex(FileNotFoundError, "none.parquet"):
            feedrate.open("none.parquet?label=fine")
        with self.assertRaisesRegex(feedrate.DataError, "recordio"):
            feedrate.open(photographs() + "?label=fine")

    def test_a_dataset_keeps_the_column_that_its_path_names(self):
        feedrate.convert("dataset", photographs(), to="folder", out=place("files"))
        images = []
        for index in range(4):
            with open(feedrate.open(place("files"))._native.place(index)[0], "rb") as file:
                images.append(file.read())
        path = two_labels(place("two_labels"), images)
        for column, labels in ("coarse", [0, 1, 0, 1]), ("fine", [0, 1, 2, 3]):
            dataset = feedrate.open(f"{path}?label={column}")
            self.assertEqual(dataset.targets, labels)
            self.assertEqual(pickle.loads(pickle.dumps(dataset)).targets, labels)
            loader = feedrate.Loader(f"{path}?label={column}", recipe="imagenet-eval", batch=4, order=range(4))
            self.assertEqual(next(iter(loader)).labels.tolist(), labels)

    def test_the_version_is_the_programs(self):
        self.assertRegex(shell("--version"), rf"\b{re.escape(feedrate.__version__)}\b")


class UnitArrays(unittest.TestCase):
    def check(self, images, flat, dtype):
        count = len(images)
        row = len(flat) // count
        self.assertEqual([one.tolist() for one in images][2], images[2].tolist())
        self.assertEqual((images[2].shape, images[-count].dtype), (images.shape[1:], dtype))
        self.assertEqual(array.array(flat.typecode, images[-1].tobytes()), flat[-row:])
        part = images[1:3]
        self.assertEqual((len(part), part[1].tobytes()), (2, images[2].tobytes()))
        self.assertEqual(part[1][0][7].tolist(), images[2].tolist()[0][7])
        self.assertEqual(images[5:2].shape, (0, *images.shape[1:]))

    def test_arrays_index_and_iterate(self):
        batch = next(iter(feedrate.Loader(mnist(), batch=9)))
        self.check(batch.images, array.array("B", batch.images.tobytes()), "uint8")
        labels = array.array("q", batch.labels.tobytes()).tolist()
        self.assertEqual((list(batch.labels), batch.labels.tolist(), batch.labels[3]), (labels, labels, labels[3]))
        self.assertEqual(batch.labels[2:5].tolist(), labels[2:5])
        floats = next(iter(feedrate.Loader(mnist(), batch=9, pixels="f32"))).images
        self.check(floats, array.array("f", floats.tobytes()), "float32")
        halves = next(iter(feedrate.Loader(mnist(), batch=9, pixels="f16"))).images
        row = halves[3][0][12]
        self.assertEqual(row.tolist(), list(struct.unpack("28e", row.tobytes())))
        self.assertEqual(row.tolist(), [float(value) for value in floats[3][0][12]])

    def test_a_part_keeps_the_memory(self):
        loader = feedrate.Loader(mnist(), batch=60, threads=2)
        parts, expected = [], []
        for batch in loader:
            expected.append(batch.images.tobytes()[784:1568])
            parts.append(batch.images[1])
            del batch
        del loader
        self.assertEqual([part.tobytes() for part in parts], expected)

    def test_other_indices_are_refused(self):
        images = next(iter(feedrate.Loader(mnist(), batch=9))).images
        for place, error in ((9, IndexError), (-10, IndexError), ((1, 2), TypeError), ("a", TypeError)):
            with self.assertRaises(error):
                images[place]
        with self.assertRaisesRegex(ValueError, "step 1"):
            images[::2]


    def test_pickles_and_deep_copies_hold_the_values(self):
        for options in {}, {"pixels": "f32"}, {"pixels": "f16"}, {"labels": [[index, 0.5] for index in range(IMAGES)]}:
            batch = next(iter(feedrate.Loader(mnist(), batch=5, **options)))
            for again in pickle.loads(pickle.dumps(batch)), copy.deepcopy(batch):
                self.assertEqual((repr(again), again.number, again.lam), (repr(batch), batch.number, batch.lam))
                for name in "images", "labels", "indices":
                    one, other = getattr(batch, name), getattr(again, name)
                    for place in slice(None), slice(1, 4), slice(2, 2):
                        copied = pickle.loads(pickle.dumps(one[place]))
                        self.assertEqual((copied.shape, copied.dtype), (one[place].shape, one.dtype))
                        self.assertEqual(copied.tolist(), other[place].tolist())
                        self.assertEqual(memoryview(copied._native).tobytes(), one[place].tobytes())


class UnitLabels(unittest.TestCase):
    def test_batches_have_the_labels_that_are_given(self):
        numbers = [index / 8 for index in range(IMAGES)]
        rows = [(index, -index, 0.5) for index in range(IMAGES)]
        classes = [index * 2**33 for index in range(IMAGES)]
        for labels, dtype in (numbers, "float32"), (rows, "float32"), (classes, "int64"), (iter(numbers), "float32"):
            kept = numbers if labels not in (rows, classes) else labels
            for batch in feedrate.Loader(mnist(), batch=50, threads=2, labels=labels):
                self.assertEqual(batch.labels.dtype, dtype)
                found = batch.labels.tolist()
                self.assertEqual([tuple(one) if kept is rows else one for one in found], [kept[i] for i in batch.indices])

    def test_numbers_are_numbers_of_any_type(self):
        """Each alone has a shape of one dimension; whole ones beside fractions are float32."""
        halves = [fractions.Fraction(index, 2) for index in range(IMAGES)]
        mixed = [index if index % 2 else index / 2 for index in range(IMAGES)]
        for labels in halves, mixed, [float(one) for one in halves]:
            for shift in 0, 1:
                moved = labels[shift:] + labels[:shift]
                batch = next(iter(feedrate.Loader(mnist(), batch=50, labels=moved)))
                self.assertEqual((batch.labels.shape, batch.labels.dtype), ((50,), "float32"))
                self.assertEqual(batch.labels.tolist(), [moved[i] for i in batch.indices])
        batch = next(iter(feedrate.Loader(mnist(), batch=50, labels=memoryview(bytes(IMAGES)))))
        self.assertEqual(batch.labels.tolist(), [0] * 50)

    def test_the_lists_that_records_keep(self):
        lists = [[index / 4, 1.0, -2.0] for index in range(8)]
        path = listed(lists)
        self.assertEqual(feedrate.open(path).label_lists, lists)
        for batch in feedrate.Loader(path, "imagenet-train:size=64", batch=4, labels="lists"):
            self.assertEqual((batch.labels.shape, batch.labels.dtype), ((4, 3), "float32"))
            self.assertEqual(batch.labels.tolist(), [lists[index] for index in batch.indices])
        with self.assertRaisesRegex(ValueError, "of one length; sample 5 has 2, sample 0 has 3"):
            feedrate.Loader(listed(lists[:5] + [[1.0, 2.0]]), "imagenet-train", labels="lists")

    def test_lists_that_a_dataset_does_not_keep_are_refused(self):
        with self.assertRaisesRegex(ValueError, "labels: .* sample 0 has 0"):
            feedrate.Loader(mnist(), labels="lists")

    def test_labels_that_do_not_fit_are_refused(self):
        for labels, words in (
            ([1.0], "labels: found 1, expected one for each of the 600"),
            ("list", "labels: expected numbers or 'lists', found 'list'"),
            ([[1.0, 2.0]] * 599 + [[1.0]], "labels: at place 599: expected 2 numbers, as before, found 1"),
            ([2**64] * 600, "labels: at place 0: expected a number of 64 bits"),
            ([[]] * 600, "labels: at place 0: expected numbers, found none"),
            ([0.5, 1e300] * 300, "labels: at place 1: expected a number that float32 holds, found 1e\\+300"),
            ([[1, 1e39]] * 600, "labels: at place 0: expected a number that float32 holds, found 1e\\+39"),
        ):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                feedrate.Loader(mnist(), labels=labels)
        for labels, words in (
            (3, "labels: expected numbers, or rows"),
            ({index: 1 for index in range(600)}, "labels: expected numbers, or rows of them, found {0: 1"),
            ([1.0] * 599 + [[1.0]], "labels: at place 599: expected a number, as before, found"),
            ([1] * 599 + [[1.0]], "labels: at place 599: expected a number, as before, found"),
            ([[1.0]] * 599 + [1.0], "labels: at place 599: expected numbers, as before, found 1.0"),
            ([1.0] * 599 + ["a"], "labels: at place 599: expected a number"),
        ):
            with self.subTest(words), self.assertRaisesRegex(TypeError, words):
                feedrate.Loader(mnist(), labels=labels)


if __name__ == "__main__":
    unittest.main()
