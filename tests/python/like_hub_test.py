"""`feedrate.torch.like` beside DataLoaders of Hugging Face's datasets and timm's reader of these, and what it refuses."""

import functools
import gc
import io
import pathlib
import random
import tempfile
import types
import unittest

from like_test import LEVEL, MEAN, picture, there

if there("torch", "torchvision", "PIL", "numpy", "datasets"):
    import datasets
    import numpy
    import torch
    from like_test import tensors
    from PIL import Image
    from torch.utils.data import DataLoader, Subset
    from torchvision import transforms as v1

    from feedrate.torch import like, pixel_difference

    datasets.disable_progress_bars()
    evaluate = v1.Compose([v1.Resize(36), v1.CenterCrop(32), *tensors()])
    train = v1.Compose([v1.RandomResizedCrop(32), v1.RandomHorizontalFlip(), *tensors()])


def encoded(number, mode="RGB", orientation=None, kind="JPEG"):
    file, more = io.BytesIO(), {}
    if orientation is not None:
        more["exif"] = Image.Exif()
        more["exif"][0x0112] = orientation
    picture(number, 40 + number % 7, 44 + number % 5).convert(mode).save(file, kind, **more)
    return {"bytes": file.getvalue(), "path": None}


def table(images, labels=None, image=None, **more):
    labels = [number % 3 for number in range(len(images))] if labels is None else labels
    feature = datasets.Image() if image is None else image
    features = {"image": feature, "label": datasets.ClassLabel(names=["a", "b", "c"])}
    features |= {name: datasets.Value("int64") for name in more}
    return datasets.Dataset.from_dict({"image": images, "label": labels, **more}, features=datasets.Features(features))


def evaluated(rows):
    """As in Hugging Face's own examples: the images stay beside the tensors."""
    rows["pixel_values"] = [evaluate(image.convert("RGB")) for image in rows["image"]]
    return rows


def as_they_are(rows):
    return {"x": [evaluate(image) for image in rows["image"]], "y": rows["label"]}


def stacked(rows):
    images = torch.stack([row["pixel_values"] for row in rows])
    return {"pixel_values": images, "labels": torch.tensor([row["label"] for row in rows])}


class Transforms:
    """Of which one is called."""

    def __init__(self):
        self.train, self.evaluate = train, evaluate

    def __call__(self, rows):
        return {"x": [self.evaluate(image.convert("RGB")) for image in rows["image"]], "y": rows["label"]}

    @classmethod
    def anew(cls, rows):
        made = v1.Compose([v1.Resize(36), v1.CenterCrop(32), *tensors()])
        return {"x": torch.stack([made(image) for image in rows["image"]]), "y": rows["label"]}

    def trained(self, rows):
        return {"x": list(map(self.train, rows["image"])), "y": rows["label"]}


@unittest.skipUnless(there("torch", "torchvision", "PIL", "numpy", "datasets"), "there are no datasets of Hugging Face")
class InteropHub(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)

    def files(self, count=24):
        return table([encoded(number) for number in range(count)])

    def folder(self):
        for number in range(24):
            directory = self.place / "train" / f"class{number % 3}"
            directory.mkdir(parents=True, exist_ok=True)
            (directory / f"{number}.jpg").write_bytes(encoded(number)["bytes"])
        cache = self.place / "cache"
        return datasets.load_dataset("imagefolder", data_dir=str(self.place), cache_dir=str(cache))["train"]

    def expect_same(self, data, level=LEVEL, directory=None, **options):
        """Batch by batch; returns what holds ours."""
        theirs = DataLoader(data, batch_size=7, **options)
        ours = like(theirs, directory=directory)
        self.assertEqual(len(theirs), len(ours))
        for wanted, found in zip(theirs, ours):
            self.assertEqual((type(found), list(found)), (type(wanted), list(wanted)))
            for name, one in wanted.items():
                other = found[name]
                self.assertEqual((one.shape, one.dtype, one.stride()), (other.shape, other.dtype, other.stride()))
                difference = (one.double() - other.double()).abs()
                self.assertLessEqual(float(difference.max()), 1.01 * level if one.dim() > 1 else 0)
        found = pixel_difference(theirs, 24)
        self.assertLessEqual(found.largest, 1.01)
        return ours._likeness.found.source.dataset

    def test_the_files_of_a_table(self):
        data = self.files().with_transform(evaluated)
        place = pathlib.Path(self.expect_same(data, collate_fn=stacked).info["path"])
        gc.collect()
        self.assertFalse(place.exists(), "a copy that nobody asked for goes with the loader")
        some = data.shuffle(seed=1).select(range(17))
        self.expect_same(some, collate_fn=stacked)
        self.expect_same(Subset(data, [9, 3, 3, 23]), collate_fn=stacked)

    def test_a_folder_is_read_where_it_lies(self):
        data = self.folder().with_transform(as_they_are)
        self.assertEqual(self.expect_same(data).info["path"], str(self.place / "train"))
        some = data.shuffle(seed=2).select(range(11))
        self.assertEqual(self.expect_same(some).info["path"], str(self.place / "train"))
        relabelled = data.with_transform(lambda rows: {**as_they_are(rows), "y": [2 - label for label in rows["label"]]})
        self.assertEqual(self.expect_same(relabelled).info["path"], str(self.place / "train"))

    def test_a_copy_where_one_is_asked_for(self):
        out = self.place / "copy"
        data = self.files().with_transform(evaluated)
        for _ in range(2):  # the second time, it is there
            ours = self.expect_same(data, collate_fn=stacked, directory=out)
            self.assertEqual((ours.info["path"], ours.classes), (str(out), ["a", "b", "c"]))
        others = table([encoded(number + 50) for number in range(24)]).with_transform(evaluated)
        self.refuses(others, "image 0 of the Dataset has other pixels in", collate_fn=stacked, directory=out)
        fewer = data.select(range(20))
        self.refuses(fewer, f"{out} is no copy of the Dataset", collate_fn=stacked, directory=out)

    def test_tensors_without_a_transform(self):
        pixels = [numpy.random.default_rng(number).integers(0, 255, (32, 32, 3), dtype="uint8") for number in range(20)]
        images = [datasets.Image().encode_example(one) for one in pixels]
        self.expect_same(table(images).with_format("torch"), level=1)
        grey = [datasets.Image().encode_example(one[:, :, 0]) for one in pixels]
        self.expect_same(table(grey).with_format("torch"), level=1)

    def test_finds_the_compose_that_is_called(self):
        for made in Transforms(), functools.partial(lambda compose, rows: {
            "x": [compose(image) for image in rows["image"]], "y": rows["label"]}, evaluate):  # fmt: skip
            self.expect_same(self.files().with_transform(made))
        loader = DataLoader(self.files().with_transform(Transforms().trained), batch_size=4)
        ours = like(loader)
        self.assertTrue(ours._likeness.plan.recipe.startswith("random-resized-crop:size=32"))
        self.assertEqual(sum(len(batch["y"]) for batch in ours), 24)
        self.assertLess(pixel_difference(loader).largest, 1.01)

    def test_takes_composes_of_each_call_and_stacked_tensors(self):
        self.expect_same(self.files().with_transform(Transforms.anew))

    def test_needs_no_labels(self):
        data = self.files().with_transform(lambda rows: {"x": [evaluate(image) for image in rows["image"]]})
        self.expect_same(data)

        def halved(rows):  # in place
            return {"x": torch.stack([row["x"].mul_(0.5) for row in rows])}

        self.expect_same(data, collate_fn=halved)

    def test_makes_grey_of_colours(self):
        pixels = numpy.random.default_rng(1).integers(0, 255, (8, 32, 32, 3), dtype="uint8")
        images = [datasets.Image().encode_example(one) for one in pixels]
        self.expect_same(table(images, image=datasets.Image(mode="L")).with_format("torch"), level=1)

    def test_a_label_is_no_other_number(self):
        """Though the table has a column of whole numbers of the same name."""
        for make in (
            lambda label: label / 2,
            float,
            lambda label: [label, 1],
            lambda label: torch.tensor(label, dtype=torch.int32),
            lambda label: torch.tensor([label]),
            numpy.uint8,
        ):
            data = self.files().with_transform(
                lambda rows: {"x": as_they_are(rows)["x"], "label": list(map(make, rows["label"]))})  # fmt: skip
            self.refuses(data, "the Dataset")

    def test_looks_at_each_kind_of_files_and_at_the_smallest_and_largest(self):
        """Of 40, row 6 is none of those at equal distances."""

        def on_white(image):
            white = Image.new("RGB", image.size, (255, 255, 255))
            white.paste(image, mask=image.getchannel("A") if image.mode == "RGBA" else None)
            return white

        clear = picture(6, 40, 44).convert("RGBA")
        clear.putalpha(9)
        wide, deep = picture(6, 40, 99), Image.fromarray(numpy.full((40, 44), 999, "uint16"))
        for image, make in (
            (clear, on_white),
            (wide, lambda image: image.rotate(90) if image.width > 90 else image),
            (deep, lambda image: image.convert("RGB")),
        ):
            file = io.BytesIO()
            image.save(file, "PNG")
            files = [encoded(number) for number in range(40)]
            files[6] = {"bytes": file.getvalue(), "path": None}
            data = table(files).with_transform(
                lambda rows: {"x": [evaluate(make(one)) for one in rows["image"]], "y": rows["label"]})  # fmt: skip
            words = "image 6 of the Dataset has other pixels" if image is deep else "changes images before its Compose"
            self.refuses(data, words)

    def test_refuses_files_that_it_does_not_read(self):
        files = [encoded(number) for number in range(4)]
        for file, words in (
            (encoded(1, kind="GIF"), "image 2 of the Dataset is of the format GIF"),
            (None, "image 2 of the Dataset is no local file"),
            ({"bytes": b"", "path": None}, "image 2 of the Dataset cannot be opened"),
            ({"bytes": encoded(1, kind="PNG")["bytes"][:-200], "path": None}, "cannot be"),
        ):
            files[2] = file
            self.refuses(table(files).with_transform(as_they_are), words)
        self.refuses(self.files(0).with_transform(as_they_are), "the Dataset is empty")

    def test_chooses_the_label_that_the_batch_holds(self):
        data = table([encoded(number) for number in range(8)], coarse=[7 - number for number in range(8)])

        def coarse(rows):
            return {"x": torch.stack([row["pixel_values"] for row in rows]), "y": torch.tensor([row["coarse"] for row in rows])}

        self.expect_same(data.with_transform(evaluated), collate_fn=coarse)

        def both(rows):
            return [row["label"] + row.get("rare", 0) for row in rows]

        rare = table([encoded(number) for number in range(8)], rare=[0] * 6 + [1] * 2)
        self.refuses(rare.with_transform(evaluated), "takes more of the columns", collate_fn=both)

    def test_leaves_what_a_transform_keeps(self):
        kept = {}

        def remembered(rows):
            for number, image in zip(rows["number"], rows["image"]):
                if number not in kept:
                    kept[number] = evaluate(image)
            return {"x": [kept[number] for number in rows["number"]], "y": rows["label"]}

        data = table([encoded(number) for number in range(8)], number=list(range(8))).with_transform(remembered)
        self.refuses(data, "keeps images of one call for others")
        self.assertLess(float((data[0]["x"] - evaluate(self.files()[0]["image"])).abs().max()), 1e-6)

    def test_makes_objects_of_rows(self):
        def made(rows):
            return types.SimpleNamespace(x=stacked(rows)["pixel_values"], y=[row["label"] for row in rows])

        batches = list(like(DataLoader(self.files().with_transform(evaluated), batch_size=8, collate_fn=made)))
        self.assertEqual(batches[0].x.shape, (8, 3, 32, 32))
        self.assertEqual(sum((batch.y for batch in batches), []), [0, 1, 2] * 8)

    def test_modes_and_orientations(self):
        modes = [encoded(1), encoded(2, "L"), encoded(3, "P", kind="PNG"), encoded(4, "CMYK"), encoded(5, orientation=1)]
        self.expect_same(table(modes).with_transform(evaluated), collate_fn=stacked)
        self.expect_same(table(modes, image=datasets.Image(mode="RGB")).with_transform(as_they_are))
        self.refuses(table(modes[:2]).with_transform(as_they_are), "images are of the modes L, RGB")
        turned = table([encoded(1), encoded(2, orientation=6)]).with_transform(as_they_are)
        self.refuses(turned, "image 1 of the Dataset is stored turned")

    def test_draws_and_composes_are_as_before(self):
        data = self.files().with_transform(lambda rows: {"x": [train(one) for one in rows["image"]], "y": rows["label"]})
        before = torch.get_rng_state(), random.getstate(), list(train.transforms)
        like(DataLoader(data, batch_size=4))
        self.assertTrue(torch.equal(before[0], torch.get_rng_state()))
        self.assertEqual(before[1:], (random.getstate(), list(train.transforms)))

    def refuses(self, data, *words, directory=None, **options):
        with self.assertRaises(ValueError) as caught:
            like(DataLoader(data, batch_size=4, **options), directory=directory)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_says_what_becomes_of_pictures_otherwise(self):
        def by(make):
            return self.files().with_transform(lambda rows: {"x": list(map(make, rows["image"])), "y": rows["label"]})

        self.refuses(by(lambda image: evaluate(image.rotate(90))), "changes images before its Compose")
        self.refuses(by(lambda image: 2 * evaluate(image)), "what its Compose gives is not what its transform returns")
        self.refuses(by(lambda image: evaluate(image) + evaluate(image)), "calls a Compose 48 times for 24 images")
        self.refuses(by(lambda image: evaluate(image).clamp_(-1, 1)), "what its Compose gives is not what")
        self.refuses(by(v1.functional.to_tensor), "calls no Compose with an image")
        self.refuses(by(lambda image: (train if random.random() < 0.5 else evaluate)(image)), "calls several Composes")
        self.refuses(by(lambda image: (train if image.width < 9 else evaluate)(image)), "calls several Composes")
        self.refuses(by(lambda image: evaluate(v1.functional.hflip(image))), "changes images before its Compose")

        def dotted(image):
            if image.width == 4:  # of no real image
                image.putpixel((1, 1), (0, 0, 0))
            return evaluate(image)

        self.refuses(by(dotted), "changes images before its Compose")
        self.refuses(by(v1.Compose([v1.ElasticTransform(), *tensors()])), "ElasticTransform is no part of recipes")
        self.refuses(self.files(), "the Dataset has no transform that makes tensors of images")
        self.refuses(self.files().with_format("numpy"), "the format numpy")

    def test_says_which_columns_it_cannot_yield(self):
        self.refuses(self.files().with_transform(evaluated), "yields the columns image, label, pixel_values")
        sizes = self.files().with_transform(evaluated)
        self.refuses(sizes, "takes more of the columns", collate_fn=lambda rows: [row["image"].size for row in rows])

        def drawn(rows):
            return {**as_they_are(rows), "y": [label + (random.random() < 0.03) for label in rows["label"]]}

        data = self.files().select([number % 24 for number in range(300)])
        self.refuses(data.with_transform(drawn), "other values of the column y each time")
        self.refuses(table([encoded(1)], [-1]).with_transform(as_they_are), "image 0 of the Dataset has the label -1")
        torn = {"bytes": encoded(1)["bytes"][:600], "path": None}
        self.refuses(table([torn]).with_transform(as_they_are), "image 0 of the Dataset cannot be opened")
        stream = self.files().to_iterable_dataset()
        self.refuses(stream, "IterableDataset yields its samples in an order of its own")

    @unittest.skipUnless(there("timm"), "there is no timm")
    def test_timm_reads_the_same_tables(self):
        import timm.data

        self.files().to_parquet(self.place / "train.parquet")
        for input_size in (3, 32, 32), (3, 24, 24):
            data = timm.data.create_dataset(f"hfds/{self.place}", root=str(self.place / "cache"), split="train")
            loader = timm.data.create_loader(
                data, input_size, 8, mean=MEAN, interpolation="bilinear", use_prefetcher=False, num_workers=0,
                device=torch.device("cpu"))  # fmt: skip
            images, labels = next(iter(like(loader)))
            self.assertEqual((tuple(images.shape[1:]), labels.tolist()), (input_size, [0, 1, 2, 0, 1, 2, 0, 1]))
            self.assertLess(pixel_difference(loader).largest, 1.01)


if __name__ == "__main__":
    unittest.main()
