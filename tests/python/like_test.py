"""`feedrate.torch.like` beside the DataLoaders that it is like, and what it refuses."""

import importlib.util
import pathlib
import random
import tempfile
import unittest


def there(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


if there("torch", "torchvision", "PIL", "numpy"):
    import numpy
    import torch
    import torchvision
    from PIL import Image
    from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, RandomSampler, Subset, WeightedRandomSampler
    from torchvision import transforms as v1
    from torchvision.transforms import v2

    import feedrate.torch
    from feedrate._like import likeness_of
    from feedrate.torch import like, pixel_difference

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
LEVEL = 1 / (255 * min(DEVIATION))  # of pixels from 0 to 255, in a normalised tensor


def tensors():
    return [v1.ToTensor(), v1.Normalize(MEAN, DEVIATION)]


def picture(number, height, width, mode="RGB"):
    """Smooth, with some noise: as compressible as a photograph."""
    draw = random.Random(number)
    rows, columns = numpy.mgrid[0:height, 0:width]
    planes = [127 + 90 * numpy.sin(draw.random() * rows / 9 + draw.random() * columns / 7) for _ in range(3)]
    noise = numpy.random.default_rng(number).integers(-20, 20, (height, width, 3))
    return Image.fromarray(numpy.clip(numpy.stack(planes, 2) + noise, 0, 255).astype("uint8")).convert(mode)


@unittest.skipUnless(there("torch", "torchvision", "PIL", "numpy"), "there is no torchvision")
class InteropLike(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.place.name) / "folder"
        for number in range(30):
            directory = cls.root / f"class{number % 3}"
            directory.mkdir(parents=True, exist_ok=True)
            sides = 40 + 17 * (number % 7), 40 + 23 * (number % 5)
            mode = "L" if number == 7 else "RGB"
            picture(number, *sides, mode).save(directory / f"{number}.{'png' if number == 11 else 'jpg'}")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def folder(self, *transforms):
        return torchvision.datasets.ImageFolder(self.root, v1.Compose([*transforms]))

    def expect_close(self, wanted, found, level=LEVEL):
        """A resize may round a pixel to the next level."""
        distance = (wanted.double() - found.double()).abs() / level
        self.assertLessEqual(float(distance.max()), 1.01)
        self.assertLess(float(distance.mean()), 0.3)

    def expect_same(self, theirs, ours, level=LEVEL):
        """Batch by batch, where nothing is drawn."""
        self.assertEqual(len(theirs), len(ours))
        count = 0
        for wanted, found in zip(theirs, ours):
            self.assertIs(type(found), type(wanted))
            for one, other in zip(wanted, found):
                self.assertEqual((one.shape, one.dtype, one.stride()), (other.shape, other.dtype, other.stride()))
                self.expect_close(one, other, level if one.dim() > 1 else 1e-9)
            count += 1
        self.assertEqual(count, len(theirs))

    def test_evaluation_has_the_same_pixels(self):
        for resize in v1.Resize, v2.Resize:
            data = self.folder(resize(48), v1.CenterCrop(32), *tensors())
            for options in {"batch_size": 7}, {"batch_size": 8, "drop_last": True, "num_workers": 1}:
                theirs = DataLoader(data, **options)
                self.expect_same(theirs, like(theirs))

    def test_u8_and_unscaled_tensors(self):
        first = v1.Resize(40), v1.CenterCrop(32)
        scaled, as_they_are = v2.ToDtype(torch.float32, scale=True), v2.ToDtype(torch.float32)
        for level, *rest in (
            (1, v1.PILToTensor()),
            (1 / 255, v1.PILToTensor(), v1.ConvertImageDtype(torch.float32)),
            (1 / 255, v2.ToImage(), scaled, v2.ToPureTensor()),
            (1 / 50, v2.ToImage(), as_they_are, v2.Normalize((120, 110, 100), (50, 60, 70)), v2.ToPureTensor()),
            (1 / 255, v1.ToTensor()),
        ):
            with self.subTest(rest=rest):
                theirs = DataLoader(self.folder(*first, *rest), batch_size=10)
                self.expect_same(theirs, like(theirs), level)

    def test_drawn_numbers_forced_upon_both_make_the_same_pixels(self):
        for first in (
            [v1.RandomResizedCrop(24), v1.RandomHorizontalFlip()],
            [v2.RandomResizedCrop(24, scale=(0.3, 0.9), ratio=(1, 1)), v2.RandomHorizontalFlip(1.0)],
            [v1.Resize(36), v1.RandomCrop(32), v1.RandomHorizontalFlip()],
            [v1.RandomHorizontalFlip(), v1.ColorJitter(0.4, 0.3, 0.2, 0.1), v1.Resize(36), v1.CenterCrop(20)],
            [v1.Grayscale(), v1.Resize(36), v1.CenterCrop(32)],
            [v1.RandomResizedCrop(24, antialias=False)],
            [v2.Resize(36, interpolation=Image.Resampling.BILINEAR, antialias=False), v2.CenterCrop(32)],
        ):
            with self.subTest(first=first):
                rest = tensors() if "Grayscale" not in str(first) else [v1.ToTensor(), v1.Normalize(0.5, 0.25)]
                loader = DataLoader(self.folder(*first, *rest), batch_size=8)
                before = torch.get_rng_state(), random.getstate(), numpy.random.get_state()[1].tolist()
                found = pixel_difference(loader, 30)
                after = torch.get_rng_state(), random.getstate(), numpy.random.get_state()[1].tolist()
                self.assertTrue(torch.equal(before[0], after[0]) and before[1:] == after[1:])
                self.assertEqual(found.samples, 30)
                self.assertLessEqual(found.largest, 1.01)
                self.assertLess(found.mean, 0.1)
                self.assertEqual(found.left_out, ["color-jitter"] if "ColorJitter" in str(first) else [])

    def test_tensors_are_resized_by_their_own_code(self):
        """Whose pixels are then compared, and not those of a picture."""
        first = v2.ToImage(), v2.RandomResizedCrop(24, antialias=True), v2.RandomHorizontalFlip()
        last = v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, DEVIATION)
        loader = DataLoader(self.folder(*first, *last), batch_size=8)
        resized, kinds = v2.functional.resized_crop, []

        def seen(image, *given, **named):
            kinds.append(type(image).__name__)
            return resized(image, *given, **named)

        v2.functional.resized_crop = seen
        try:
            found = pixel_difference(loader, 30)
        finally:
            v2.functional.resized_crop = resized
        self.assertEqual(set(kinds), {"Image"})
        self.assertTrue(all(kind == "Image" for kind in kinds) and len(kinds) == 30)
        self.assertLessEqual(found.largest, 2.01)
        self.assertLess(found.mean, 0.3)

    def test_the_difference_can_be_large(self):
        """Or a comparison with itself would pass, too."""
        loader = DataLoader(self.folder(v1.Resize(36), v1.CenterCrop(20), *tensors()), batch_size=8)
        loader.dataset.samples.reverse()  # what is compared comes from the files that it names
        loader.dataset.targets.reverse()
        self.assertLess(pixel_difference(loader, 30).largest, 1.01)
        import feedrate._like_steps as made

        step = made.VIEWS["CenterCrop"]
        try:
            made.VIEWS["CenterCrop"] = lambda one: step(one)._replace(force=lambda views: step(v1.CenterCrop(20)).force(
                (views[0], views[1]))[:1] + (views[1]._replace(window=(0, 0, 20, 20)),))  # fmt: skip
            self.assertGreater(pixel_difference(loader, 30).largest, 50)
        finally:
            made.VIEWS["CenterCrop"] = step

    def test_samplers_shares_and_subsets(self):
        data = self.folder(v1.Resize(36), v1.CenterCrop(32), *tensors())
        some = Subset(data, [3, 1, 29, 11, 7, 7])
        theirs = DataLoader(some, batch_size=4)
        self.expect_same(theirs, like(theirs))
        theirs = DataLoader(data, batch_sampler=[[5, 4, 3], [2, 1, 0]])
        self.expect_same(theirs, like(theirs))
        for rank in 0, 1:
            sampler = DistributedSampler(data, 2, rank, shuffle=False)
            theirs = DataLoader(data, batch_size=4, sampler=sampler)
            self.assertEqual(len(theirs), len(like(theirs)))
        shares = [like(DataLoader(data, batch_size=5, sampler=DistributedSampler(data, 2, rank, seed=3))) for rank in (0, 1)]
        labels = sorted(int(label) for share in shares for _, some in share for label in some)
        self.assertEqual(labels, sorted(data.targets))
        theirs = DataLoader(data, batch_size=4, sampler=WeightedRandomSampler([1.0] * 15 + [0.0] * 15, 12))
        self.assertEqual(sum(len(some) for _, some in like(theirs)), 12)

    def test_shuffled_epochs_hold_every_sample_and_follow_the_seed(self):
        data = self.folder(v1.RandomResizedCrop(16), *tensors())

        def epochs(seed, generator=None):
            torch.manual_seed(seed)
            ours = like(DataLoader(data, batch_size=4, shuffle=True, generator=generator), threads=2)
            return [[label for _, labels in ours for label in labels.tolist()] for _ in range(2)]

        first, second = epochs(1)
        self.assertEqual(sorted(first), sorted(data.targets))
        self.assertNotEqual(first, second)
        self.assertEqual(epochs(1), [first, second])
        self.assertNotEqual(epochs(2), [first, second])
        self.assertEqual(epochs(5, torch.Generator().manual_seed(9)), epochs(6, torch.Generator().manual_seed(9)))

    def test_a_sampler_that_is_batched_is_taken_too(self):
        data = self.folder(v1.Resize(36), v1.CenterCrop(32), *tensors())
        batches = BatchSampler(RandomSampler(data), 7, drop_last=True)
        ours = like(DataLoader(data, batch_sampler=batches))
        self.assertEqual([len(labels) for _, labels in ours], [7] * 4)

    def test_a_collate_function_gets_what_the_datasets_would_give(self):
        seen = []

        def collate(samples):
            seen.append((type(samples[0]), type(samples[0][1]), len(samples)))
            return {"x": torch.stack([image for image, _ in samples]), "y": [label for _, label in samples]}

        theirs = DataLoader(self.folder(v1.Resize(36), v1.CenterCrop(32), *tensors()), batch_size=16, collate_fn=collate)
        for wanted, found in zip(theirs, like(theirs)):
            self.assertEqual(wanted["y"], found["y"])
            self.expect_close(wanted["x"], found["x"])
        self.assertEqual(seen[0], seen[1])

    def test_the_state_resumes_in_the_middle_of_an_epoch(self):
        data = self.folder(v1.RandomResizedCrop(16), *tensors())
        ours = like(DataLoader(data, batch_size=4, shuffle=True))
        batches = iter(ours)
        next(batches)
        state = ours.state_dict()
        rest = [images for images, _ in batches]
        ours.load_state_dict(state)
        self.assertTrue(all(map(torch.equal, rest, (images for images, _ in ours))))

    def test_erases_with_the_pixels_that_become_the_numbers(self):
        """Behind Normalize, as torchvision's references have it, 0 is the mean's colour."""
        mean, deviation = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
        for erasing, behind, colour in (
            (v1.RandomErasing(p=1), True, "value=124:green=116:blue=104"),
            (v1.RandomErasing(p=1), False, "value=0"),
            (v1.RandomErasing(p=1, value=(0.2, 0.4, 0.6)), False, "value=51:green=102:blue=153"),
        ):
            with self.subTest(colour=colour, behind=behind):
                normal = v1.Normalize(mean, deviation)
                last = [v1.ToTensor(), normal, erasing] if behind else [v1.ToTensor(), erasing, normal]
                theirs = DataLoader(self.folder(v1.Resize(36), v1.CenterCrop(32), *last), batch_size=7)
                recipe = likeness_of(theirs, None, None).plan.recipe
                self.assertTrue(recipe.endswith(colour), recipe)
                if behind:
                    images = next(iter(like(theirs)))[0]
                    erased = (images.abs().amax(1) < LEVEL / 2).flatten(1).sum(1)
                    self.assertGreater(int(erased.min()), 32 * 32 // 60, "at least 2 % of each image")

    def refuses(self, loader, *words):
        with self.assertRaises(ValueError) as caught:
            like(loader)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_says_what_it_cannot_be_like(self):
        last = tensors()
        for transforms, words in (
            ([v1.ElasticTransform(), *last], "ElasticTransform is no part of recipes"),
            ([v1.Lambda(lambda image: image), *last], "Lambda is no part of recipes"),
            ([v2.Resize(36, interpolation=Image.Resampling.LANCZOS), *last], "by lanczos interpolation, not bilinear or"),
            ([v1.RandomResizedCrop(32, interpolation=v1.InterpolationMode.NEAREST), *last], "by nearest interpolation"),
            ([v2.ToImage(), v2.Resize(36, antialias=False), *last[1:]], "antialias=False, which skips pixels of tensors"),
            ([v1.RandomRotation(9, expand=True), v1.CenterCrop(32), *last], "RandomRotation has expand=True"),
            ([v1.CenterCrop(32), v1.RandomRotation(9, fill=300), *last], "fills with 300, which is no colour"),
            ([v1.RandomResizedCrop(32)], "no ToTensor or PILToTensor"),
            ([v1.RandomResizedCrop(32), *last, v1.RandomErasing(value="random")], "'random', which is no colour"),
            ([v1.RandomResizedCrop(32), *last, v1.RandomErasing(value=9)], "9, which no pixels become"),
            ([v1.RandomCrop(32, padding=-4), *last], "RandomCrop cuts sides off"),
            ([v1.ColorJitter(brightness=(0.5, 2.0)), *last], "ColorJitter's brightness is from 0.5 to 2.0"),
            ([v1.ToTensor(), v1.Normalize(-0.5, 1.0)], "a mean that no pixels have"),
        ):
            with self.subTest(words=words):
                self.refuses(DataLoader(self.folder(*transforms), batch_size=4), words)

    def test_leaves_random_states_that_samplers_draw_of(self):
        class Drawn:
            def __iter__(self):
                return iter([torch.randperm(30).tolist()])

        before = torch.get_rng_state()
        like(DataLoader(self.folder(v1.RandomResizedCrop(16), *tensors()), batch_sampler=Drawn()))
        self.assertTrue(torch.equal(before, torch.get_rng_state()))

    def test_says_which_dataset_it_does_not_know(self):
        class Own(torchvision.datasets.ImageFolder):
            def __getitem__(self, index):
                return *super().__getitem__(index), index

        class Batches(torchvision.datasets.ImageFolder):
            def __getitems__(self, indices):
                return [self[0] for _ in indices]

        class Shorter(DataLoader):
            def __iter__(self):
                yield next(super().__iter__())

        transform = v1.Compose([v1.RandomResizedCrop(32), *tensors()])
        for kind in Own, Batches:
            self.refuses(DataLoader(kind(self.root, transform)), f"{kind.__name__} is no ImageFolder, CIFAR or MNIST")
        self.refuses(Shorter(self.folder(transform)), "Shorter is a DataLoader that changes what it yields")
        self.refuses(DataLoader(torch.arange(5)), "Tensor is no ImageFolder", "no Dataset of Hugging Face")
        folder = torchvision.datasets.ImageFolder
        self.refuses(DataLoader(folder(self.root, transform, target_transform=str)), "target_transform")
        self.refuses(DataLoader(folder(self.root, transform, loader=Image.open)), "a loader of its own")
        self.refuses(DataLoader(folder(self.root, transform), batch_size=None), "it does not batch its samples")
        with self.assertRaisesRegex(TypeError, "expected a torch.utils.data.DataLoader"):
            like([1, 2])

    def test_mnist_and_what_a_script_made_of_it(self):
        class Digits(torchvision.datasets.MNIST):
            pass

        with tempfile.TemporaryDirectory() as directory:
            raw = pathlib.Path(directory) / "MNIST" / "raw"
            raw.mkdir(parents=True)
            self.make_mnist(raw)
            data = torchvision.datasets.MNIST(directory, transform=v1.Compose([v1.ToTensor(), v1.Normalize(0.13, 0.31)]))
            theirs = DataLoader(data, batch_size=64)
            ours = like(theirs)
            self.expect_same(theirs, ours)
            place = pathlib.Path(ours.dataset.info["path"])
            self.assertTrue(place.exists())
            self.assertLess(pixel_difference(theirs).largest, 0.001)
            data.data[5, 3, 3] ^= 1
            self.refuses(theirs, "no longer holds the images of its files")
            data.data[5, 3, 3] ^= 1
            data.targets[0] += 1
            self.refuses(theirs, "no longer holds the images and labels of its files")
            del ours
            import gc

            gc.collect()
            self.assertFalse(place.exists())
            data.__class__ = Digits
            self.refuses(theirs, "Digits has other files than MNIST")

    def make_mnist(self, raw):
        for name, count in ("train", 500), ("t10k", 100):
            draw = numpy.random.default_rng(count)
            images = draw.integers(0, 256, (count, 28, 28), "uint8")
            labels = draw.integers(0, 10, count, "uint8")
            head = (2051).to_bytes(4, "big") + count.to_bytes(4, "big") + (28).to_bytes(4, "big") * 2
            (raw / f"{name}-images-idx3-ubyte").write_bytes(head + images.tobytes())
            head = (2049).to_bytes(4, "big") + count.to_bytes(4, "big")
            (raw / f"{name}-labels-idx1-ubyte").write_bytes(head + labels.tobytes())


@unittest.skipUnless(there("torch", "torchvision", "PIL", "numpy", "timm"), "there is no timm")
class InteropLikeTimm(unittest.TestCase):
    def test_create_loader_and_create_transform(self):
        import timm.data

        with tempfile.TemporaryDirectory() as directory:
            for number in range(12):
                place = pathlib.Path(directory) / f"class{number % 2}"
                place.mkdir(exist_ok=True)
                picture(number, 60, 70 + number).save(place / f"{number}.jpg")
            data = timm.data.ImageDataset(directory)
            made = timm.data.create_loader(data, (3, 32, 32), 4, is_training=True, use_prefetcher=False, num_workers=1,
                                           interpolation="bilinear",
                                           color_jitter=0.2, persistent_workers=False)  # fmt: skip
            ours = like(made)
            images, labels = next(iter(ours))
            self.assertEqual((images.shape, images.dtype, labels.dtype), ((4, 3, 32, 32), torch.float32, torch.int64))
            self.assertLessEqual(pixel_difference(made, 12).largest, 1.01)
            erasing = {mode: timm.data.create_loader(timm.data.ImageDataset(directory), (3, 32, 32), 4,
                                                     is_training=True, use_prefetcher=False, num_workers=1,
                                                     interpolation="bilinear", re_prob=0.25, re_mode=mode)
                       for mode in ("const", "pixel")}  # fmt: skip
            recipe = likeness_of(erasing["const"], None, None).plan.recipe
            for part in "random-erasing:share=0.25:scale=0.02-0.333", "value=124:green=116:blue=104":
                self.assertIn(part, recipe)
            self.assertEqual(next(iter(like(erasing["const"])))[0].shape, (4, 3, 32, 32))
            augmented = timm.data.create_loader(timm.data.ImageDataset(directory), (3, 32, 32), 4, is_training=True,
                                                interpolation="bilinear", use_prefetcher=False, num_workers=1,
                                                auto_augment="rand-m9")  # fmt: skip
            with self.assertRaisesRegex(ValueError, "RandAugment of timm.data.auto_augment is another one"):
                like(augmented)
            with self.assertRaisesRegex(ValueError, "fills with noise, which is mode 'pixel'"):
                like(erasing["pixel"])
            evaluation = timm.data.create_loader(data, (3, 32, 32), 4, use_prefetcher=False, num_workers=1,
                                                 interpolation="bilinear", persistent_workers=False)  # fmt: skip
            for wanted, found in zip(evaluation, like(evaluation)):
                self.assertLess(float((wanted[0] - found[0]).abs().max()), 1.01 * LEVEL)
                self.assertTrue(torch.equal(wanted[1], found[1]))


if __name__ == "__main__":
    unittest.main()
