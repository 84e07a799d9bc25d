"""Loaders of `feedrate.torch.like` whose dataset decodes more than Feedrate does, and loops over one loader at once."""

import io
import pathlib
import tempfile
import unittest
import warnings

from like_test import picture, there

if there("torch", "torchvision", "PIL", "numpy"):
    import torch
    import torchvision
    from PIL import ImageFile
    from torch.utils.data import DataLoader
    from torchvision import transforms

    import feedrate.torch
    from feedrate.torch import like

KINDS = {3: "GIF", 8: "BMP", 9: "TIFF", 20: "JPEG2000"}  # of images that are named .jpg; 14 is cut


@unittest.skipUnless(there("torch", "torchvision", "PIL", "numpy"), "there is no torchvision")
class InteropLikeStandIns(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.root = pathlib.Path(place.name)
        for number in range(24):
            made = io.BytesIO()
            picture(number, 60, 50).save(made, KINDS.get(number, "JPEG"))
            directory = self.root / f"class{number % 2}"
            directory.mkdir(exist_ok=True)
            (directory / f"{number:02}.jpg").write_bytes(made.getvalue()[: 1200 if number == 14 else None])
        self.addCleanup(setattr, ImageFile, "LOAD_TRUNCATED_IMAGES", False)
        ImageFile.LOAD_TRUNCATED_IMAGES = True

    def loader(self, *steps, **options):
        folder = torchvision.datasets.ImageFolder(self.root, transforms.Compose([*steps, transforms.ToTensor()]))
        return DataLoader(folder, batch_size=5, **options)

    def cropped(self):
        return self.loader(transforms.RandomResizedCrop(16), shuffle=True)

    def expect_same_as_theirs(self, ours, theirs):
        count = 0
        for (images, labels), (wanted, classes) in zip(ours, theirs):
            self.assertEqual(labels.tolist(), classes.tolist())
            self.assertLess(float((images - wanted).abs().max()), 2.1 / 255)
            count += len(labels)
        self.assertEqual(count, 24)

    def test_what_only_theirs_decodes_is_theirs(self):
        theirs = self.loader(transforms.Resize(20), transforms.CenterCrop(20))
        ours = like(theirs, threads=2)
        with self.assertWarnsRegex(UserWarning, "the dataset's own code decodes it"):
            self.expect_same_as_theirs(ours, theirs)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.expect_same_as_theirs(ours, theirs)
        self.assertEqual(ours._likeness.stand_ins.count, 5)

    def test_what_theirs_does_not_decode_is_an_error(self):
        ImageFile.LOAD_TRUNCATED_IMAGES = False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with self.assertRaisesRegex(feedrate.DataError, "14.jpg") as raised:
                list(like(self.cropped()))
        self.assertIn("truncated", str(raised.exception.__cause__))

    def test_loops_over_one_loader_at_once_are_epochs_of_their_own(self):
        loader = like(self.cropped())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(2):
                pairs = list(zip(loader, loader))
                counts = [sum(len(pair[side][1]) for pair in pairs) for side in range(2)]
                self.assertEqual(counts, [24, 24])
                self.assertFalse(any(torch.equal(one[0], other[0]) for one, other in pairs))


@unittest.skipUnless(there("torch", "torchvision", "PIL", "numpy"), "there is no PyTorch")
class UnitTorchIterations(unittest.TestCase):
    def setUp(self):
        from support import mnist

        self.loader = feedrate.torch.DataLoader(mnist(), "mnist", batch_size=50, shuffle=True, indices=True)

    def test_a_loop_within_a_loop_changes_nothing_for_it(self):
        options = {"batch_size": 50, "shuffle": True, "indices": True, "seed": 7}
        once = feedrate.torch.DataLoader(self.loader.dataset, "mnist", **options)
        alone = [indices.tolist() for _, _, indices in once]
        again = feedrate.torch.DataLoader(self.loader.dataset, "mnist", **options)
        outer, inner = [], []
        for number, (_, _, indices) in enumerate(again):
            outer.append(indices.tolist())
            if number % 5 == 0:
                inner.append([one for batch in again for one in batch[2].tolist()])
        self.assertEqual(outer, alone)
        self.assertTrue(all(sorted(one) == list(range(600)) for one in inner))
        self.assertNotEqual(inner[0], inner[1])
        following = [one for batch in again for one in batch[2].tolist()]
        self.assertFalse(any(following == one for one in inner))

    def test_the_state_is_behind_the_last_batch_of_any(self):
        first = iter(self.loader)
        next(first)
        second = iter(self.loader)
        next(second)
        self.assertEqual((self.loader.state_dict()["epoch"], self.loader.state_dict()["position"]), (1, 50))
        next(first)
        self.assertEqual((self.loader.state_dict()["epoch"], self.loader.state_dict()["position"]), (0, 100))
        self.loader.close()
        for one in first, second:
            with self.assertRaises(RuntimeError):
                for _ in range(9):
                    next(one)


if __name__ == "__main__":
    unittest.main()
