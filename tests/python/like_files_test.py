"""Where `feedrate.torch.like` takes the files of a folder from: as they lie, converted, or not at all."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from like_test import picture, tensors, there

if there("torch", "torchvision", "PIL", "numpy"):
    import numpy
    import torch
    import torchvision
    from PIL import Image
    from torch.utils.data import DataLoader
    from torchvision import transforms as v1

    import feedrate
    from feedrate.torch import like


@unittest.skipUnless(there("torch", "torchvision", "PIL", "numpy"), "there is no torchvision")
class InteropLikeFiles(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.root = self.made("folder", 0)

    def made(self, name, first, kind="jpg"):
        for number in range(30):
            directory = self.place / name / f"class{number % 3}"
            directory.mkdir(parents=True, exist_ok=True)
            picture(first + number, 40 + number % 7, 40 + number % 5).save(directory / f"{number}.{kind}")
        return self.place / name

    def loader(self, root):
        transform = v1.Compose([v1.Resize(36), v1.CenterCrop(32), *tensors()])
        return DataLoader(torchvision.datasets.ImageFolder(root, transform), batch_size=7)

    def test_data_in_a_recordio(self):
        out = self.place / "made"
        for _ in range(2):  # the second time, it is there
            theirs = self.loader(self.root)
            ours = like(theirs, directory=out)
            self.assertEqual(ours.dataset.info["format"], "recordio")
            for wanted, found in zip(theirs, ours):
                self.assertLess(float((wanted[0] - found[0]).abs().max()), 0.02)
                self.assertTrue(torch.equal(wanted[1], found[1]))
        with self.assertRaisesRegex(ValueError, "image 0 of the ImageFolder has other pixels in"):
            like(self.loader(self.made("others", 50)), directory=out)
        (self.root / "class0" / "0.jpg").rename(self.root / "class1" / "0.jpg")
        with self.assertRaisesRegex(ValueError, "no conversion of"):
            like(self.loader(self.root), directory=out)

    def test_says_that_truncated_images_are_not_loaded(self):
        (self.root / "class0" / "0.jpg").write_bytes((self.root / "class0" / "0.jpg").read_bytes()[:-99])
        with unittest.mock.patch("PIL.ImageFile.LOAD_TRUNCATED_IMAGES", True):
            theirs = self.loader(self.root)
            ours = like(theirs)
            self.assertEqual(len(list(theirs)), 5)
        self.assertIn("Pillow is told to load truncated images", ours._likeness.notes[0])
        with self.assertRaisesRegex(feedrate.DataError, "0.jpg"):
            list(ours)

    def test_files_that_are_read_otherwise(self):
        deep = self.made("deep", 0, "png")
        pixels = numpy.full((40, 40), 999, "uint16")
        Image.fromarray(pixels).save(deep / "class2" / "29.png")
        for root, words in (deep, "29.png has 16 bits of grey"), (self.made("map", 0, "bmp"), "is no JPEG, PNG or WebP"):
            with self.assertRaisesRegex(ValueError, words):
                like(self.loader(root))

    def test_one_rank_converts_and_the_others_wait(self):
        directory = str(self.place)
        code = (
            "import sys, feedrate.torch\nfrom torch.utils.data import DataLoader\n"
            "from torchvision import datasets, transforms\n"
            "data = datasets.ImageFolder(sys.argv[1], transforms.Compose([transforms.RandomResizedCrop(8), "
            "transforms.ToTensor()]))\n"
            "ours = feedrate.torch.like(DataLoader(data, 8), directory=sys.argv[2] + '/made')\n"
            "print(ours.dataset.info['format'], sum(len(labels) for _, labels in ours))"
        )
        words = [sys.executable, "-c", code, str(self.root), directory]
        ranks = [{**os.environ, "RANK": rank, "WORLD_SIZE": "2"} for rank in "01"]
        both = [subprocess.Popen(words, env=one, stdout=subprocess.PIPE, text=True) for one in ranks]
        self.assertEqual([one.communicate()[0].split() for one in both], [["recordio", "30"]] * 2)


if __name__ == "__main__":
    unittest.main()
