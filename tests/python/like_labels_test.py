"""`feedrate.torch.like` of datasets whose labels are their own, and of several in one."""

import pathlib
import tempfile
import unittest

from like_test import picture, there

if there("torch", "torchvision", "PIL", "numpy"):
    import torch
    import torchvision
    from torch.utils.data import ConcatDataset, DataLoader, Subset
    from torchvision import transforms

    from feedrate.torch import like

    class Renumbered(torchvision.datasets.ImageFolder):
        def find_classes(self, directory):
            return ["a", "b", "c"], {"a": 7, "b": 3, "c": 0}


@unittest.skipUnless(there("torch", "torchvision", "PIL", "numpy"), "there is no torchvision")
class InteropLikeLabels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        for number in range(21):
            directory = pathlib.Path(cls.place.name) / f"part{number % 2}" / "abc"[number % 3]
            directory.mkdir(parents=True, exist_ok=True)
            picture(number, 40, 30 + number).save(directory / f"{number}.png")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def folder(self, part=0, kind="ImageFolder", size=20, **options):
        steps = transforms.Compose([transforms.Resize(size), transforms.CenterCrop(size), transforms.ToTensor()])
        made = Renumbered if kind == "Renumbered" else torchvision.datasets.ImageFolder
        return made(pathlib.Path(self.place.name) / f"part{part}", steps, **options)

    def expect_same(self, dataset):
        theirs = DataLoader(dataset, batch_size=4)
        count = 0
        for (images, labels), (wanted, classes) in zip(like(theirs), theirs):
            self.assertEqual((labels.tolist(), labels.dtype), (classes.tolist(), classes.dtype))
            self.assertLess(float((images - wanted).abs().max()), 1.01 / 255)
            count += len(labels)
        self.assertEqual(count, len(dataset))

    def test_classes_are_those_of_the_dataset(self):
        self.expect_same(self.folder(kind="Renumbered"))
        self.expect_same(Subset(self.folder(kind="Renumbered"), [5, 1, 1]))

    def test_a_target_transform_is_asked(self):
        self.expect_same(self.folder(target_transform=lambda label: 10 - label))
        self.expect_same(self.folder(kind="Renumbered", target_transform={7: 1, 3: 0, 0: -1}.get))

    def test_a_target_transform_that_draws_or_makes_no_numbers_is_refused(self):
        for change, reason in (float, "float, not int"), (lambda label: int(torch.randint(1000, ())), "each time"):
            with self.assertRaisesRegex(ValueError, reason):
                like(DataLoader(self.folder(target_transform=change)))

    def test_several_in_one(self):
        several = ConcatDataset([self.folder(0), Subset(self.folder(1, "Renumbered"), [4, 2]), self.folder(1)])
        self.expect_same(several)
        self.expect_same(Subset(several, [12, 3, 11, 20, 20]))
        shuffled = like(DataLoader(several, batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(1)))
        found = sorted(label for _, labels in shuffled for label in labels.tolist())
        self.assertEqual(found, sorted(label for _, label in several))

    def test_several_that_are_changed_otherwise_are_refused(self):
        with self.assertRaisesRegex(ValueError, "different transforms"):
            like(DataLoader(ConcatDataset([self.folder(0), self.folder(1, size=16)])))


if __name__ == "__main__":
    unittest.main()
