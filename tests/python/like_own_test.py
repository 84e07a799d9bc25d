"""`feedrate.torch.like` of a script's own Datasets, which open files with Pillow, and what of them it refuses."""

import functools
import importlib.util
import io
import pathlib
import pickle
import tempfile
import unittest


def there(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


if there("torch", "torchvision", "PIL", "numpy"):
    import numpy
    import torch
    from PIL import Image, ImageOps
    from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, default_collate
    from torchvision import transforms as v1
    from torchvision.datasets.folder import default_loader

    import feedrate
    from feedrate.torch import like, pixel_difference
    from like_test import picture


if there("torch"):

    class Listed(Dataset):
        """As tutorials write it."""

        def __init__(self, samples, transform, change=None):
            self.samples = samples
            self.transform = transform
            self.change = change

        def __len__(self):
            return len(self.samples)

        def __getitem__(self, index):
            path, label = self.samples[index]
            image = Image.open(path).convert("RGB")
            return self.transform(image), label


@unittest.skipUnless(there("torch", "torchvision", "PIL", "numpy"), "there is no torchvision")
class InteropLikeOwn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.place.name)
        cls.samples = []
        for number in range(20):
            path = cls.root / f"shelf{number % 4}" / "deep" / f"{number}.{'png' if number % 3 == 0 else 'jpg'}"
            path.parent.mkdir(parents=True, exist_ok=True)
            picture(number, 40 + number, 60 - number, "L" if number == 7 else "RGB").save(path)
            cls.samples.append((str(path), (7 * number) % 5))

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def setUp(self):
        self.transform = v1.Compose([v1.Resize((32, 24)), v1.PILToTensor()])

    def loader(self, kind=None, samples=None, **options):
        data = (kind or Listed)(samples or self.samples, self.transform)
        return DataLoader(data, **{"batch_size": 6, **options})

    def expect_same(self, theirs, levels=1, **options):
        ours = like(theirs, **options)
        self.assertEqual(len(theirs), len(ours))
        for wanted, found in zip(theirs, ours, strict=True):
            self.assertIs(type(found), type(wanted))
            if isinstance(wanted, dict):
                self.assertEqual(list(found), list(wanted))
                wanted, found = wanted.values(), found.values()
            for one, other in zip(wanted, found, strict=True):
                self.assertEqual((one.shape, one.dtype), (other.shape, other.dtype))
                self.assertLessEqual(int((one.int() - other.int()).abs().max()), levels if one.dim() > 1 else 0)
        return ours

    def test_paths_and_labels(self):
        ours = self.expect_same(self.loader())
        self.assertEqual(pickle.loads(pickle.dumps(ours.dataset)).__len__(), 20)
        self.expect_same(self.loader(samples=self.samples[3:4] * 3 + self.samples[:9]))
        self.expect_same(self.loader(samples=[(path, label - 2) for path, label in self.samples]))
        self.transform = v1.Compose([v1.RandomResizedCrop(24), v1.RandomHorizontalFlip(), v1.PILToTensor()])
        self.assertLessEqual(pixel_difference(self.loader(), 20).largest, 2)

    def test_other_ways_to_open_and_to_return(self):
        class Loaded(Listed):
            def __getitem__(self, index):
                return [self.transform(default_loader(self.samples[index][0])), self.samples[index][1]]

        class Within(Listed):
            def __getitem__(self, index):
                with open(self.samples[index][0], "rb") as file, Image.open(file) as image:
                    image = image if image.mode == "RGB" else image.convert("RGB")
                    return {"pixels": self.transform(image), "label": torch.tensor(self.samples[index][1])}

        class Grey(Listed):
            def __getitem__(self, index):
                path = pathlib.Path(self.samples[index][0])
                return self.transform(Image.open(path).convert("L")), numpy.int64(self.samples[index][1])

        class AsTheyAre(Listed):
            def __getitem__(self, index):
                return self.transform(Image.open(self.samples[index][0])), self.samples[index][1]

        for kind in Loaded, Within:
            with self.subTest(kind=kind.__name__):
                self.expect_same(self.loader(kind))
        self.expect_same(self.loader(Grey), levels=2)  # which ours makes grey when it is resized
        self.expect_same(self.loader(AsTheyAre, self.samples[:7]))
        self.refuses(self.loader(AsTheyAre), "its images are of the modes L, RGB")

    def test_labels_that_are_no_classes(self):
        class Valued(Listed):
            def __getitem__(self, index):
                path, label = self.samples[index]
                return self.transform(Image.open(path).convert("RGB")), self.change(label)

        def loader(change, **options):
            return DataLoader(Valued(self.samples, self.transform, change), batch_size=6, **options)

        for change in (
            lambda label: torch.tensor(label / 3), lambda label: numpy.float32(label), lambda label: torch.tensor([label / 3, 1]),
            lambda label: numpy.eye(5, dtype="float32")[label],
        ):  # fmt: skip
            theirs = loader(change)
            for (_, wanted), (_, found) in zip(theirs, like(theirs), strict=True):
                self.assertEqual((wanted.dtype, wanted.tolist()), (found.dtype, found.tolist()))
        for change, words in (
            (lambda label: label / 3, "its labels are of float, not int"),
            (lambda label: numpy.float64(label), "its labels are of float64"),
            (lambda label: torch.tensor([label]), "its labels are of int64"),
            (lambda label: torch.zeros(1 + label), "not all of one type and length"),
            (lambda label: numpy.random.rand(2).astype("float32"), "another file or label each time"),
        ):
            self.refuses(loader(change), words)
        self.refuses(loader(lambda label: torch.tensor(0.5), collate_fn=lambda some: some), "its labels are of float32")
        with tempfile.TemporaryDirectory() as place:
            made = like(loader(lambda label: torch.tensor(label / 3)), directory=str(pathlib.Path(place) / "copy"))
            self.assertEqual(next(iter(made))[1].tolist(), [torch.tensor(label / 3).item() for _, label in self.samples[:6]])

    def test_parts_of_it_and_several(self):
        data = Listed(self.samples, self.transform)
        self.expect_same(DataLoader(Subset(data, [5, 3, 19, 3]), batch_size=3))
        other = Listed(self.samples[:5], self.transform)
        self.expect_same(DataLoader(ConcatDataset([data, other]), batch_size=7))

    def test_follows_what_a_script_changes(self):
        data = Listed(list(self.samples), self.transform)
        loader = like(DataLoader(data, batch_size=4))
        self.assertEqual(next(iter(loader))[0].shape, (4, 3, 32, 24))
        data.transform = v1.Compose([v1.Resize((9, 8)), v1.PILToTensor()])
        self.assertEqual(next(iter(loader))[0].shape, (4, 3, 9, 8))
        del data.samples[7:]
        self.assertEqual([label for _, some in loader for label in some.tolist()], [label for _, label in self.samples[:7]])
        data.transform = v1.Compose([v1.Lambda(lambda image: image), v1.PILToTensor()])
        with self.assertRaisesRegex(ValueError, "has changed since, and now: .*Lambda is no part of recipes"):
            iter(loader)

    def test_conversion_and_own_collate(self):
        with tempfile.TemporaryDirectory() as place:
            out = str(pathlib.Path(place) / "copy")
            ours = self.expect_same(self.loader(), directory=out)
            self.assertTrue(pathlib.Path(out).is_dir())
            del ours
            self.expect_same(self.loader(), directory=out)
            self.refuses(self.loader(samples=self.samples[:9]), "is no copy of the dataset", directory=out)
        kinds = []

        def collate(samples):
            kinds.append({type(label) for _, label in samples})
            return default_collate(samples)

        self.expect_same(self.loader(collate_fn=collate))
        self.assertEqual(kinds, [{int}] * len(kinds))

    def test_as_files(self):
        made = feedrate.files(self.samples, classes=list("abcde"))
        self.assertEqual((len(made), made.targets, made.classes), (20, [label for _, label in self.samples], list("abcde")))
        self.assertEqual(made[3].label, 1)
        batch = next(iter(feedrate.Loader(made, "resize:height=8:width=9+rgb", batch=20, shuffle=False)))
        self.assertEqual(batch.labels.tolist(), made.targets)
        with self.assertRaisesRegex(ValueError, "expected one at least"):
            feedrate.files([])
        with self.assertRaisesRegex(ValueError, "expected a label from 0 to 1, found 2"):
            feedrate.files(self.samples, classes=["a", "b"])
        with self.assertRaisesRegex(TypeError, "expected a path and a label, found 'a.jpg'"):
            feedrate.files(["a.jpg"])
        with self.assertRaises(feedrate.DataError) as caught:
            feedrate.files([(str(self.root / "none.jpg"), 0)])
        self.assertIn(str(self.root / "none.jpg"), str(caught.exception))

    def refuses(self, loader, *words, **options):
        states = torch.get_rng_state(), numpy.random.get_state()[1].tolist()
        with self.assertRaises(ValueError) as caught:
            like(loader, **options)
        for word in words:
            self.assertIn(word, str(caught.exception))
        self.assertTrue(torch.equal(states[0], torch.get_rng_state()))
        self.assertEqual(states[1], numpy.random.get_state()[1].tolist())

    def test_says_what_it_does_not_do(self):
        def reading(body):
            return type("Own", (Listed,), {"__getitem__": body})

        def opened(self, index, mode="RGB"):
            return Image.open(self.samples[index][0]).convert(mode)

        def drawn(self, index):
            path, _ = self.samples[int(torch.randint(20, (1,)))]
            return self.transform(Image.open(path).convert("RGB")), 0

        def remembered(self, index):
            self.last = index
            return self.transform(opened(self, index)), 0

        cache = {}

        def cached(self, index):
            if index not in cache:
                cache[index] = opened(self, index)
            return self.transform(cache[index]), 0

        @functools.lru_cache(maxsize=None)
        def load(path):
            return Image.open(path).convert("RGB")

        def by_size(self, index):
            image = opened(self, index)
            return self.transform(image.rotate(90) if image.width > 30 else image), 0

        def twice(self, index):
            opened(self, index - 1)
            return self.transform(opened(self, index)), 0

        def of_memory(self, index):
            content = pathlib.Path(self.samples[index][0]).read_bytes()
            return self.transform(Image.open(io.BytesIO(content)).convert("RGB")), 0

        other = v1.Compose([v1.Resize((16, 16)), v1.PILToTensor()])
        for body, words in (
            (lambda self, i: (self.transform(opened(self, i)), 0, i), "returns 3 things, not an image and a label"),
            (lambda self, i: (0, self.transform(opened(self, i))), "returns the label before the image"),
            (lambda self, i: (self.transform(opened(self, i)), 0.5), "its labels are of float, not int"),
            (lambda self, i: (self.transform(opened(self, i)), "cat"), "its labels are of str, not int"),
            (lambda self, i: (self.transform(opened(self, i)) // 2, 0), "is not what its __getitem__ returns"),
            (lambda self, i: (self.transform(opened(self, i)).add_(1), 0), "is not what its __getitem__ returns"),
            (lambda self, i: (self.transform(ImageOps.exif_transpose(opened(self, i))), 0), "changes images before its Compose"),
            (lambda self, i: (self.transform(opened(self, i).transpose(0)), 0), "changes images before its Compose"),
            (lambda self, i: ((self.transform if i % 2 else other)(opened(self, i)), 0), "calls several Composes"),
            (lambda self, i: (v1.functional.pil_to_tensor(opened(self, i)), 0), "calls a Compose with no image"),
            (lambda self, i: (self.transform(Image.new("RGB", (40, 40))), 0), "opens no file with PIL.Image.open"),
            (lambda self, i: (self.transform(load(self.samples[i][0])), 0), "keeps images of one call for others"),
            (drawn, "returns another file or label each time"),
            (remembered, "changes the dataset's last"),
            (cached, "keeps images of one call for others"),
            (by_size, "changes images before its Compose"),
            (twice, "opens 2 files"),
            (of_memory, "opens images of BytesIO, and not by their paths"),
        ):
            with self.subTest(words=words):
                self.refuses(self.loader(reading(body)), "Own is no ImageFolder", words)
        self.refuses(self.loader(samples=[("none.jpg", 0)]), "its sample 0 cannot be read: FileNotFoundError")
        self.refuses(DataLoader([(torch.zeros(3), 0)]), "list is no ImageFolder", "opens no file")
        endless = type("Endless", (Listed,), {"__len__": lambda self: 1 // 0})
        data = endless(self.samples, self.transform)
        self.refuses(DataLoader(data, sampler=[0, 1]), "its length is not known: ZeroDivisionError")

    def test_leaves_pillow_as_it_was(self):
        before = Image.open
        like(self.loader())
        self.assertIs(Image.open, before)
