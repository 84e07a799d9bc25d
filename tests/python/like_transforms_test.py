"""Transforms of torchvision and their counterparts: where nothing is left to chance, the same pixels."""

import importlib.util
import pathlib
import tempfile
import unittest


def there(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


if there("torch", "torchvision", "PIL", "numpy"):
    import torch
    import torchvision
    from PIL import Image
    from torch.utils.data import DataLoader
    from torchvision import transforms as v1
    from torchvision.transforms import v2

    from feedrate._like import likeness_of
    from feedrate.torch import like, pixel_difference
    from like_test import picture


@unittest.skipUnless(there("torch", "torchvision", "PIL", "numpy"), "there is no torchvision")
class InteropLikeTransforms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.place.name)
        for number in range(12):
            directory = cls.root / f"class{number % 3}"
            directory.mkdir(parents=True, exist_ok=True)
            sides = 40 + 17 * (number % 7), 40 + 23 * (number % 5)
            picture(number, *sides, "L" if number == 7 else "RGB").save(directory / f"{number}.png")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def loader(self, *transforms):
        folder = torchvision.datasets.ImageFolder(self.root, v1.Compose([*transforms, v1.PILToTensor()]))
        return DataLoader(folder, batch_size=5)

    def expect_same(self, *transforms, levels=0):
        """`levels`: by how many of 255 Pillow may differ, which resizes along the axes in another order since 13."""
        theirs = self.loader(*transforms)
        for (wanted, labels), (found, ours) in zip(theirs, like(theirs), strict=True):
            self.assertEqual(labels.tolist(), ours.tolist())
            self.assertEqual(wanted.shape, found.shape)
            distance = (wanted.int() - found.int()).abs()
            self.assertLessEqual(int(distance.max()), levels)
            self.assertLess(float(distance.float().mean()), 0.3)

    def expect_close_draws(self, *transforms):
        found = pixel_difference(self.loader(*transforms), 12)
        self.assertEqual(found.samples, 12)
        self.assertLessEqual(found.largest, 1.01)
        self.assertLess(found.mean, 0.3)

    def test_sizes_of_two_numbers(self):
        for made in v1, v2:
            self.expect_same(made.Resize((32, 48)), levels=1)
            self.expect_same(made.Resize((60, 31)), made.CenterCrop((21, 28)), levels=1)
            self.expect_same(made.Resize((36, 36)), levels=1)
            self.expect_close_draws(made.RandomResizedCrop((20, 31)), made.RandomHorizontalFlip())
            self.expect_close_draws(made.Resize([39, 50]), made.RandomCrop((32, 40)))
            self.expect_close_draws(made.Resize((24, 20)), made.RandomHorizontalFlip(1.0))
        self.assertEqual(next(iter(like(self.loader(v1.RandomResizedCrop((20, 31))))))[0].shape, (5, 3, 20, 31))

    def test_bicubic_interpolation(self):
        for made in v1, v2:
            by = {"interpolation": made.InterpolationMode.BICUBIC}
            self.expect_same(made.Resize(32, **by), made.CenterCrop(32), levels=1)
            self.expect_same(made.Resize((48, 60), **by), levels=1)
            self.expect_same(made.Resize((90, 31), interpolation=Image.Resampling.BICUBIC), levels=1)
            for size in 24, (20, 31), 90:
                self.expect_close_draws(made.RandomResizedCrop(size, **by), made.RandomHorizontalFlip())

    @unittest.skipUnless(there("timm"), "there is no timm")
    def test_timm_draws_how_to_interpolate(self):
        from timm.data.transforms import RandomResizedCropAndInterpolation

        crop = RandomResizedCropAndInterpolation(28, interpolation="random")
        self.expect_close_draws(crop, v1.RandomHorizontalFlip())
        self.assertIn("interpolation=random", likeness_of(self.loader(crop), None, None).plan.recipe)

    def test_flips_and_turns(self):
        for made in v1, v2:
            self.expect_same(v1.CenterCrop((32, 40)), made.RandomVerticalFlip(1.0))
            self.expect_same(made.RandomVerticalFlip(1.0), made.RandomHorizontalFlip(1.0), made.CenterCrop(32))
            for how in "nearest", "bilinear":
                for fill in 0, (10, 200, 90), 77:
                    turn = {"interpolation": made.InterpolationMode(how), "fill": fill}
                    for degrees in 0, 10, -33.3, 45, 90, 5.1, 225, 180, 270, 301.7, 400:
                        fixed = (degrees, degrees)
                        self.expect_same(made.CenterCrop(36), made.RandomRotation(fixed, **turn))
                        self.expect_same(made.CenterCrop((31, 40)), made.RandomRotation(fixed, center=(9, 4.5), **turn))

    def test_turns_come_before_and_behind_crops(self):
        turn = v1.RandomRotation((20, 20), interpolation=v1.InterpolationMode.BILINEAR, fill=(4, 5, 6))
        self.expect_same(turn, v1.CenterCrop(32))
        self.expect_same(turn, v1.Resize((33, 44)), levels=1)
        self.expect_same(v1.CenterCrop((40, 38)), turn, v1.CenterCrop(21), turn, v1.RandomHorizontalFlip(1.0), levels=0)
        self.expect_same(v1.CenterCrop(39), v1.Resize((50, 20)), v1.CenterCrop(20), levels=1)
        self.expect_same(v1.CenterCrop(39), turn, v1.Grayscale())
        self.expect_close_draws(turn, v1.RandomResizedCrop(24), v1.RandomHorizontalFlip())
        self.expect_close_draws(v1.RandomResizedCrop(36), turn, v1.RandomHorizontalFlip(), v1.CenterCrop(20))

    def numbers(self, *transforms):
        return DataLoader(torchvision.datasets.ImageFolder(self.root, v1.Compose(transforms)), batch_size=4)

    def test_crops_and_flips_of_numbers(self):
        normal = v1.Normalize((0.5, 0.4, 0.3), (0.2, 0.3, 0.25))
        for made in v1, v2:
            for transforms, level in (
                ([v1.ToTensor(), made.CenterCrop((32, 40))], 1e-6),
                ([v1.ToTensor(), normal, made.CenterCrop((32, 40)), made.RandomHorizontalFlip(1.0)], 1e-5),
                ([v1.CenterCrop(30), v1.ToTensor(), made.RandomVerticalFlip(1.0), normal], 1e-5),
                ([v1.CenterCrop(30), v1.ToTensor(), made.Pad((1, 2, 3, 4), padding_mode="edge"), normal], 1e-5),
                ([v1.CenterCrop(30), v1.ToTensor(), normal, made.Pad((1, 2, 3, 4), padding_mode="reflect")], 1e-5),
                ([v1.CenterCrop(30), v1.ToTensor(), normal, made.Pad((1, 2, 3, 4))], 0.51 / 255 / 0.2),
                ([v1.ToTensor(), made.Resize((31, 40), antialias=True)], 1.01 / 255),
            ):
                theirs = self.numbers(*transforms)
                for (wanted, _), (found, _) in zip(theirs, like(theirs), strict=True):
                    self.assertLessEqual(float((wanted - found).abs().max()), level, transforms)
            for transforms in (
                [v1.ToTensor(), made.RandomCrop((36, 39), padding=4), made.RandomHorizontalFlip(), normal],
                [v1.CenterCrop(34), v1.ToTensor(), normal, made.RandomCrop(36, padding=4), made.RandomHorizontalFlip()],
                [v1.CenterCrop(34), v1.ToTensor(), normal, made.RandomCrop(36, padding=4, padding_mode="reflect")],
                [v1.ToTensor(), normal, made.RandomResizedCrop(24, antialias=True), made.RandomHorizontalFlip()],
            ):
                self.assertLessEqual(pixel_difference(self.numbers(*transforms), 12).largest, 1.01)
        cubic = v1.Resize(30, interpolation=v1.InterpolationMode.BICUBIC)
        for transforms, words in (
            ([v1.ToTensor(), v1.RandomCrop(32, padding=4, fill=0.5)], "RandomCrop fills numbers with 0.5"),
            ([v1.ToTensor(), v1.ColorJitter(0.4)], "ColorJitter comes behind the conversion to numbers"),
            ([v1.ToTensor(), cubic, v1.CenterCrop(30)], "of which some are those of no pixels"),
        ):
            with self.assertRaisesRegex(ValueError, words):
                like(self.numbers(*transforms))

    def test_the_best_known_augmentation_of_kaggle(self):
        found = next(iter(like(self.loader(
            v1.RandomResizedCrop(size=40, scale=(0.8, 1.0)), v1.RandomRotation(15), v1.ColorJitter(), v1.RandomHorizontalFlip(),
            v1.CenterCrop(size=32)))))[0]
        self.assertEqual(found.shape, (5, 3, 32, 32))
