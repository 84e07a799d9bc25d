"""Transforms of torchvision's that change pixels, and their counterparts: the same pixels, as often."""

import collections
import importlib.util
import itertools
import pathlib
import tempfile
import unittest


def there(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


if there("torch", "torchvision", "PIL", "numpy"):
    import numpy
    import torch
    import torchvision
    from PIL import Image
    from torch.utils.data import DataLoader
    from torchvision import transforms as v1
    from torchvision.transforms import autoaugment, v2

    import feedrate
    from feedrate._like import likeness_of
    from feedrate.torch import like, pixel_difference
    from like_test import picture

DRAWS = 6000


@unittest.skipUnless(there("torch", "torchvision", "PIL", "numpy"), "there is no torchvision")
class InteropLikePixels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.place.name)
        for number in range(9):
            directory = cls.root / f"class{number % 3}"
            directory.mkdir(parents=True, exist_ok=True)
            sides = 40 + 17 * (number % 7), 40 + 23 * (number % 5)
            picture(number, *sides, "L" if number == 7 else "RGB").save(directory / f"{number}.png")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def loader(self, *transforms):
        folder = torchvision.datasets.ImageFolder(self.root, v1.Compose([*transforms, v1.PILToTensor()]))
        return DataLoader(folder, batch_size=1)

    def expect_same(self, *transforms, share=0.0):
        """`share`: of the values that may be on the level beside theirs."""
        theirs = self.loader(*transforms)
        differ = count = 0
        for (wanted, _), (found, _) in zip(theirs, like(theirs), strict=True):
            self.assertEqual(wanted.shape, found.shape)
            distance = (wanted.int() - found.int()).abs()
            self.assertLessEqual(int(distance.max()), 1 if share else 0, transforms)
            differ, count = differ + int(distance.sum()), count + distance.numel()
        self.assertLessEqual(differ, share * count)

    def test_what_is_done_to_all(self):
        crop = v1.CenterCrop((36, 39))
        for made in v1, v2:
            for one in (
                made.Grayscale(3), made.RandomGrayscale(1.0), made.RandomAutocontrast(1.0), made.RandomEqualize(1.0),
                made.RandomInvert(1.0), made.RandomPosterize(3, 1.0), made.RandomSolarize(90.5, 1.0),
                made.RandomSolarize(0, 1.0), made.RandomAdjustSharpness(2.4, 1.0), made.RandomAdjustSharpness(0, 1.0),
            ):  # fmt: skip
                self.expect_same(crop, one)
                self.expect_same(crop, made.RandomApply([one], 1.0), made.CenterCrop(21))
            self.expect_same(crop, made.RandomApply([made.RandomInvert(1.0)], 0.0))
        self.expect_same(v1.Grayscale(3), v1.CenterCrop(32))

    def test_turns_of_any_angle(self):
        """At 45 degrees, the sine lies next to half of the last digit that Pillow keeps."""
        for how in "nearest", "bilinear":
            for degrees in 45, 135, -45, 225, 315, 405, 5.1, 14.1, 20.4, 36.3, 89.99, 1e-3:
                self.expect_same(
                    v1.CenterCrop((40, 37)), v1.RandomRotation((degrees, degrees), interpolation=v1.InterpolationMode(how)))

    def test_affine_changes(self):
        for made, how in itertools.product((v1, v2), ("nearest", "bilinear")):
            by = {"interpolation": made.InterpolationMode(how), "fill": (9, 80, 200)}
            for degrees, scale, shear, centre in (
                (0, None, None, None), (45, None, None, None), (30, (0.7, 0.7), None, None), (0, (1.37, 1.37), None, None),
                (0, (0.51, 0.51), None, (3, 30)), (-17, (1.2, 1.2), (12, 12), (9.5, 4)), (3, None, (5, 5, -21, -21), None),
                (180, (2, 2), (0, 0, 30, 30), None),
            ):  # fmt: skip
                one = made.RandomAffine((degrees, degrees), scale=scale, shear=shear, center=centre, **by)
                self.expect_same(v1.CenterCrop((40, 33)), one)
        moved = self.loader(v1.Resize((20, 30)), v1.Grayscale(), v1.RandomAffine(0, translate=(0.1, 0.2), fill=255))
        found = {tuple(int(one) for one in (batch == 255).all(2).sum(2)[0]) for batch, _ in like(moved)}
        self.assertTrue(found)

    def test_padding(self):
        for made in v1, v2:
            for padding in 3, (4,), (2, 5), (1, 0, 6, 3):
                for more in {}, {"fill": (9, 80, 200)}, {"fill": 7}, {"padding_mode": "edge"}, {"padding_mode": "reflect"}, {
                    "padding_mode": "symmetric"}:  # fmt: skip
                    self.expect_same(v1.CenterCrop((36, 39)), made.Pad(padding, **more))
            self.expect_same(made.Pad(6, fill=(1, 2, 3)), made.CenterCrop(46))
            self.expect_same(v1.CenterCrop(20), made.RandomCrop(24, padding=2, padding_mode="reflect"))
            self.expect_same(v1.CenterCrop(20), made.RandomCrop(24, padding=2))
            self.expect_same(v1.CenterCrop(20), made.RandomCrop((20, 26), padding=[3, 0], fill=(90, 8, 7)))
        for crop in (
            [v1.RandomCrop(32, padding=4, padding_mode="reflect"), v1.RandomHorizontalFlip()],
            [v1.Resize((40, 40)), v1.RandomCrop(40, padding=4)],
            [v1.RandomHorizontalFlip(), v1.Pad((1, 2, 3, 4)), v1.RandomCrop(36)],
        ):
            found = pixel_difference(self.loader(*crop), 9)
            self.assertEqual(found.samples, 9)
            self.assertLessEqual(found.largest, 1)
        self.refuses("has pad_if_needed", v1.RandomCrop(90, pad_if_needed=True))
        with self.assertRaisesRegex(ValueError, "has no 30 pixels beside its edge to reflect"):
            like(self.loader(v1.CenterCrop(20), v1.Pad(30, padding_mode="reflect")))

    def test_blurs(self):
        for made in v1, v2:
            for size, sigma in (3, 0.5), (23, 1.7), ((5, 9), 2.0), ([1, 7], 0.9):
                self.expect_same(v1.CenterCrop((36, 39)), made.GaussianBlur(size, (sigma, sigma)), share=2e-4)
        with self.assertRaisesRegex(ValueError, "a kernel of 41 x 41 does not fit an image of 20 x 20"):
            like(self.loader(v1.CenterCrop(20), v1.GaussianBlur(41)))

    def refuses(self, words, *transforms):
        with self.assertRaises(ValueError) as caught:
            like(self.loader(*transforms))
        self.assertIn(words, str(caught.exception))

    def test_says_what_it_does_not_leave_to_chance(self):
        self.refuses("RandomApply leaves resize to chance", v1.RandomApply([v1.Resize((20, 20))]))
        self.refuses("RandomApply leaves pad to chance", v1.RandomApply([v1.RandomInvert(), v1.Pad(3)]))
        self.refuses("Lambda is no part of recipes", v1.RandomApply([v1.Lambda(lambda image: image)]))
        self.refuses("RandomChoice is no part of recipes", v1.RandomChoice([v1.RandomInvert()]))
        self.refuses("by bicubic interpolation", v1.RandomAffine(3, interpolation=v1.InterpolationMode.BICUBIC))
        self.refuses("AugMix is no part of recipes", v1.AugMix())

    # What is drawn: each result that theirs can have, as often as theirs.

    def expect_drawn(self, transform, expected):
        """`expected`: bytes of a result -> its probability."""
        image = picture(3, 24, 31)
        path = self.root / "one.png"
        image.save(path)
        self.addCleanup(path.unlink, missing_ok=True)
        files = feedrate.files([(path, 0)] * DRAWS)
        folder = torchvision.datasets.ImageFolder(self.root, v1.Compose([transform, v1.PILToTensor()]))
        recipe = likeness_of(DataLoader(folder), None, None).plan.recipe
        counts = collections.Counter()
        for batch in feedrate.Loader(files, recipe, batch=500, epochs=1):
            for one in numpy.asarray(batch.images):
                counts[one.tobytes()] += 1
        probability = collections.Counter()
        for result, share in expected(image):
            probability[result.tobytes()] += share
        self.assertAlmostEqual(sum(probability.values()), 1)
        self.assertEqual([one for one in counts if one not in probability], [])
        for result, share in probability.items():
            deviation = (DRAWS * share * (1 - share)) ** 0.5
            self.assertLessEqual(abs(counts[result] - DRAWS * share), 5.5 * deviation + 1)

    def test_one_change_of_any_strength(self):
        for how in "nearest", "bilinear":
            way = v1.InterpolationMode(how)

            def expected(image, way=way):
                space = v1.TrivialAugmentWide()._augmentation_space(31)
                for name, (sizes, has_sign) in space.items():
                    sizes = [0.0] if sizes.ndim == 0 else sizes.tolist()
                    for size, sign in itertools.product(sizes, (1, -1) if has_sign else (1,)):
                        share = 1 / len(space) / len(sizes) / (2 if has_sign else 1)
                        yield autoaugment._apply_op(image, name, sign * size, way, [7, 8, 9]), share

            for made in v1, v2:
                self.expect_drawn(made.TrivialAugmentWide(interpolation=way, fill=[7, 8, 9]), expected)

    def test_pairs_of_a_policy(self):
        nearest = v1.InterpolationMode.NEAREST
        for policy in v1.AutoAugmentPolicy:

            def expected(image, policy=policy):
                made = v1.AutoAugment(policy)
                space = made._augmentation_space(10, (image.height, image.width))

                def changed(image, name, magnitude, sign):
                    sizes, has_sign = space[name]
                    size = 0.0 if magnitude is None else float(sizes[magnitude])
                    return autoaugment._apply_op(image, name, sign * size if has_sign else size, nearest, None)

                for pair in made.policies:
                    for happens in itertools.product((True, False), repeat=2):
                        for signs in itertools.product((1, -1), repeat=2):
                            result, share = image, 1 / len(made.policies) / 4
                            for (name, probability, magnitude), does, sign in zip(pair, happens, signs):
                                share *= probability if does else 1 - probability
                                result = changed(result, name, magnitude, sign) if does else result
                            yield result, share

            for made in v1, v2:
                self.expect_drawn(made.AutoAugment(made.AutoAugmentPolicy(policy.value)), expected)

    def test_two_of_all_changes(self):
        def expected(image):
            space = v1.RandAugment()._augmentation_space(31, (image.height, image.width))
            changes = []
            for name, (sizes, has_sign) in space.items():
                for sign in (1, -1) if has_sign else (1,):
                    size = sign * float(sizes[9]) if sizes.ndim else 0.0
                    changes.append((name, size, 1 / len(space) / (2 if has_sign else 1)))
            way = v1.InterpolationMode.BILINEAR
            for (one, size, share), (other, other_size, other_share) in itertools.product(changes, repeat=2):
                first = autoaugment._apply_op(image, one, size, way, None)
                yield autoaugment._apply_op(first, other, other_size, way, None), share * other_share

        self.expect_drawn(v1.RandAugment(interpolation=v1.InterpolationMode.BILINEAR), expected)

    def test_all_or_none(self):
        inverted, grey = v1.RandomInvert(1.0), v1.Grayscale(3)

        def expected(image):
            yield image, 0.7 * 0.8
            yield grey(image), 0.7 * 0.2
            yield inverted(image), 0.3 * 0.8
            yield grey(inverted(image)), 0.3 * 0.2

        some = v1.RandomApply([inverted, v1.RandomPosterize(8, 1.0)], 0.3)
        self.expect_drawn(v1.Compose([some, v1.RandomGrayscale(0.2)]), expected)
        flipped = v1.RandomApply([v1.RandomHorizontalFlip(0.5)], 0.4)
        self.expect_drawn(flipped, lambda image: [(image, 0.8), (image.transpose(Image.Transpose.FLIP_LEFT_RIGHT), 0.2)])

    def test_random_moves(self):
        def expected(image):
            for x, y in itertools.product(range(-3, 4), range(-5, 6)):
                shares = [(0.5 if abs(one) == most else 1) / (2 * most) for one, most in ((x, 3), (y, 5))]
                yield v1.functional.affine(image, 0, [x, y], 1, [0, 0], fill=[5, 6, 7]), shares[0] * shares[1]

        self.expect_drawn(v1.RandomAffine(0, translate=(3 / 31, 5 / 24), fill=(5, 6, 7)), expected)
