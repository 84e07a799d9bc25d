"""`feedrate.torch.like` where ranks share an epoch, and where a script changes what its loader is made of; and
`feedrate.torch.DataLoader`, as far as there are samplers and datasets of PyTorch's in it."""

import pathlib
import pickle
import tempfile
import unittest
import unittest.mock
import weakref

import feedrate
from like_test import picture, there
from support import IMAGES, mnist

if there("torch"):
    import torch
    from torch.utils.data import (
        BatchSampler, ConcatDataset, DataLoader, DistributedSampler, RandomSampler, SequentialSampler, Subset, SubsetRandomSampler,
        WeightedRandomSampler,
    )  # fmt: skip

    import feedrate.torch
    from feedrate._like import likeness_of, loader_like
    from feedrate.torch import like
if there("torch", "torchvision", "PIL", "numpy"):
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import CenterCrop, Compose, RandomPerspective, RandomResizedCrop, Resize, ToTensor

COUNT = 29


def flat(loader):
    loader._indices = True
    return [index for batch in loader for index in batch[2].tolist()]


def labels_of(loader):
    return [label for _, labels in loader for label in labels.tolist()]


@unittest.skipUnless(there("torch"), "PyTorch is not installed")
class InteropChanges(unittest.TestCase):
    def loader(self, dataset=None, **options):
        return feedrate.torch.DataLoader(mnist() if dataset is None else dataset, "mnist", batch_size=100, **options)

    def test_weights_that_change_are_those_of_the_next_iteration(self):
        sampler = WeightedRandomSampler([1.0] * IMAGES, 200)
        loader = self.loader(sampler=sampler)
        self.assertGreater(len(set(flat(loader))), 100)
        sampler.weights[:] = 0
        sampler.weights[7] = 1
        self.assertEqual(flat(loader), [7] * 200)
        sampler.weights = torch.tensor([0.0, 1.0])
        sampler.num_samples = 310
        self.assertEqual(len(loader), 4)
        self.assertEqual(flat(loader), [1] * 310)
        sampler.weights[:] = 0
        with self.assertRaisesRegex(ValueError, "has changed since, and now: .*weights"):
            iter(loader)

    def test_indices_that_change_are_those_of_the_next_iteration(self):
        indices = list(range(10))
        for kind in list, torch.tensor:
            given = kind(indices)
            dataset = feedrate.open(mnist())
            sampler, subset = SubsetRandomSampler(given), Subset(dataset, given)
            loaders = [self.loader(sampler=sampler), self.loader(subset, shuffle=False), self.loader(ConcatDataset([subset, dataset]))]
            self.assertEqual([sorted(flat(one)) for one in loaders[:2]], [indices] * 2)
            self.assertEqual(len(flat(loaders[2])), IMAGES + 10)
            more = [*range(300, 310), *indices]
            sampler.indices = subset.indices = kind(more)
            self.assertEqual(sorted(flat(loaders[0])), sorted(more))
            self.assertEqual(flat(loaders[1]), more)
            self.assertEqual(len(flat(loaders[2])), IMAGES + 20)
            loaders[0].close()
        more = [5]
        sampler.indices = more
        self.assertEqual(flat(loaders[0]), [5])
        more.append(9)  # in place
        self.assertEqual(sorted(flat(loaders[0])), [5, 9])
        sampler.indices = [IMAGES]
        with self.assertRaisesRegex(ValueError, f"has changed since, and now: sampler: expected indices .* found {IMAGES}"):
            flat(loaders[0])

    def test_an_iteration_that_goes_on_stays_as_it_began(self):
        sampler = SubsetRandomSampler(list(range(250)))
        loader = self.loader(sampler=sampler, indices=True)
        batches = iter(loader)
        first = next(batches)[2].tolist()
        sampler.indices = [3]
        self.assertEqual(len(loader), 3)
        beside = iter(loader)
        self.assertEqual([batch[2].tolist() for batch in beside], [[3]])
        rest = [index for batch in batches for index in batch[2].tolist()]
        self.assertEqual(sorted(first + rest), list(range(250)))
        self.assertEqual(len(loader), 1)

    def test_what_does_not_change_is_not_made_again(self):
        sampler = SubsetRandomSampler(range(5, 250))
        loader = self.loader(sampler=sampler, seed=3)
        made = loader._loader
        first, second = flat(loader), flat(loader)
        self.assertNotEqual(first, second)
        self.assertIs(loader._loader, made)
        sampler.indices = range(5, 249)
        third = flat(loader)
        self.assertEqual((len(third), loader.state_dict()["epoch"]), (244, 3))
        again = self.loader(sampler=sampler, seed=3)
        again.set_epoch(2)
        self.assertEqual(flat(again), third)

    def test_a_distributed_samplers_epochs_go_on(self):
        sampler = DistributedSampler(range(IMAGES), 2, 0)
        loader = self.loader(sampler=sampler)
        sampler.set_epoch(3)
        found = [flat(loader)]
        sampler.rank = 1
        found.append(flat(loader))
        expected = []
        for rank, epoch in (0, 3), (1, 4):
            other = self.loader(sampler=DistributedSampler(range(IMAGES), 2, rank))
            other.set_epoch(epoch)
            expected.append(flat(other))
        self.assertEqual(found, expected)


@unittest.skipUnless(there("torch", "torchvision", "PIL", "numpy"), "there is no torchvision")
class InteropLikeChanges(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        for number in range(COUNT):
            directory = pathlib.Path(cls.place.name) / f"class{number % 3}"
            directory.mkdir(exist_ok=True)
            picture(number, 50 + number, 60).save(directory / f"{number}.jpg")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def folder(self, *transforms):
        """Whose labels are the samples' numbers."""
        folder = ImageFolder(self.place.name, Compose([*(transforms or [RandomResizedCrop(16)]), ToTensor()]))
        folder.samples = [(path, number) for number, (path, _) in enumerate(folder.samples)]
        return folder

    # Ranks.

    def shares(self, make, ranks=2):
        """Which labels, and how many batches, of each rank; make() is called by each."""
        found = []
        for rank in range(ranks):
            with unittest.mock.patch("feedrate.torch._share", return_value=(rank, ranks)):
                torch.manual_seed(rank)
                loader = make()
                found.append((len(loader), labels_of(loader)))
        return found

    def test_ranks_are_an_error_where_nobody_says_what_they_do(self):
        data = self.folder()
        for options in {"shuffle": True}, {}, {"sampler": RandomSampler(data)}, {"batch_sampler": [[0, 1], [2, 3]]}:
            loader = like(DataLoader(data, **options))
            self.assertGreater(len(labels_of(loader)), 0)
            for other in loader, pickle.loads(pickle.dumps(like(DataLoader(data)))):
                with unittest.mock.patch("feedrate.torch._share", return_value=(1, 2)):
                    for ask in len, iter:
                        with self.assertRaisesRegex(RuntimeError, "each of the 2 ranks would read all .*shared=True.* shared=False"):
                            ask(other)
                    self.assertIn("batches", repr(other))
        with self.assertRaisesRegex(TypeError, "shared: expected True or False, found 2"):
            like(DataLoader(data), shared=2)

    def test_ranks_share_as_a_distributed_sampler_has_it(self):
        data = self.folder()
        half = Subset(data, range(0, COUNT, 2))
        for dataset, ranks, options in (
            (data, 2, {"shuffle": True}),
            (data, 3, {"shuffle": False}),
            (data, 2, {"sampler": RandomSampler(data, generator=torch.Generator().manual_seed(5))}),
            (half, 2, {"shuffle": True, "drop_last": True}),
            (half, 4, {"batch_sampler": BatchSampler(SequentialSampler(half), 3, False)}),
        ):
            if "batch_sampler" not in options:
                options["batch_size"] = 4
            with self.subTest(options, ranks=ranks):
                found = self.shares(lambda: like(DataLoader(dataset, **options), shared=True), ranks)
                expected = []
                for rank in range(ranks):
                    sampler = DistributedSampler(dataset, ranks, rank, shuffle=False)
                    batch = options.get("batch_size", 3)
                    theirs = DataLoader(dataset, batch, sampler=sampler, drop_last=options.get("drop_last", False))
                    expected.append((len(theirs), sum(map(len, theirs.batch_sampler))))
                self.assertEqual([(batches, len(indices)) for batches, indices in found], expected)
                seen = sorted(index for _, indices in found for index in indices)
                if not options.get("drop_last"):
                    self.assertEqual(set(seen), set(range(COUNT) if dataset is data else half.indices))
                self.assertLessEqual(len(seen) - len(set(seen)), ranks - 1)

    def test_alone_a_loader_that_would_share_is_as_any_other(self):
        data = self.folder()
        torch.manual_seed(1)
        loader = like(DataLoader(data, shuffle=True), shared=True)
        epochs = [labels_of(loader) for _ in range(2)]
        self.assertEqual([sorted(one) for one in epochs], [list(range(COUNT))] * 2)
        torch.manual_seed(1)
        self.assertEqual(labels_of(like(DataLoader(data, shuffle=True), shared=False)), epochs[0])

    def test_each_rank_reads_everything_where_that_is_said_or_a_sampler_decides(self):
        data = self.folder()
        for found in self.shares(lambda: like(DataLoader(data, batch_size=4, shuffle=True), shared=False)):
            self.assertEqual((found[0], sorted(found[1])), (8, list(range(COUNT))))
        for shared in None, True:
            both = self.shares(lambda: like(DataLoader(data, sampler=DistributedSampler(data, 2, 1)), shared=shared))
            self.assertEqual(both[0], both[1])
            self.assertEqual(both[0][0], 15)

    def test_what_ranks_cannot_share_is_refused(self):
        data = self.folder()
        for options, words in (
            ({"batch_sampler": [[0, 1], [2, 3]]}, "shared: of samplers, not of list"),
            ({"sampler": RandomSampler(data, replacement=True)}, "shared: of PyTorch's own samplers, not of RandomSampler"),
        ):
            with self.assertRaisesRegex(ValueError, words):
                like(DataLoader(data, **options), shared=True)

    @unittest.skipUnless(there("accelerate"), "there is no Accelerate")
    def test_batches_that_accelerate_shares_are_not_shared_again(self):
        from accelerate.data_loader import BatchSamplerShard

        data = self.folder()
        for shared in None, True:
            found = []
            for rank in range(2):
                batches = BatchSamplerShard(BatchSampler(SequentialSampler(data), 4, False), 2, rank)
                with unittest.mock.patch("feedrate.torch._share", return_value=(rank, 2)):
                    found.append(labels_of(like(DataLoader(data, batch_sampler=batches), shared=shared)))
            self.assertEqual([len(one) for one in found], [16, 16])
            self.assertEqual(set(found[0] + found[1]), set(range(COUNT)))

    # Changes.

    def test_a_transform_that_changes_is_that_of_the_next_iteration(self):
        """As in progressive resizing."""
        data = self.folder(Resize(40), CenterCrop(16))
        loader = like(DataLoader(data, batch_size=10))
        sizes = []
        for size in 16, 24, 32:
            data.transform = Compose([Resize(40), CenterCrop(size), ToTensor()])
            sizes += {tuple(images.shape[2:]) for images, _ in loader}
        data.transform.transforms[1] = CenterCrop(20)  # in place
        sizes += {tuple(images.shape[2:]) for images, _ in loader}
        self.assertEqual(sizes, [(size, size) for size in (16, 24, 32, 20)])
        theirs = [images for images, _ in DataLoader(data, batch_size=10)]
        for found, wanted in zip((images for images, _ in loader), theirs, strict=True):
            self.assertLess(float((found - wanted).abs().max()), 2 / 255)
        data.transform = Compose([RandomPerspective(), ToTensor()])
        with self.assertRaisesRegex(ValueError, "has changed since, and now: .*RandomPerspective is no part of recipes"):
            iter(loader)

    def test_samples_that_change_are_those_of_the_next_iteration(self):
        data = self.folder()
        subset = Subset(data, [4, 2])
        whole, some = like(DataLoader(data, batch_size=8)), like(DataLoader(subset))
        self.assertEqual((len(labels_of(whole)), labels_of(some)), (COUNT, [4, 2]))
        del data.samples[11:]
        subset.indices.append(9)
        self.assertEqual((len(whole), len(labels_of(whole)), labels_of(some)), (2, 11, [4, 2, 9]))
        data.samples[2] = data.samples[2][0], 100
        self.assertEqual(labels_of(some), [4, 100, 9])

    def test_a_loader_that_is_swapped_is_not_held(self):
        """By the loader in its place, which goes with it."""
        data = self.folder()
        theirs = DataLoader(data, shuffle=True)
        ours = loader_like(likeness_of(theirs, None, None, is_inner=True))
        self.assertEqual(len(labels_of(ours)), COUNT)
        data.transform = Compose([RandomResizedCrop(24), ToTensor()])
        self.assertEqual(next(iter(ours))[0].shape[2], 24)
        there = weakref.ref(theirs)
        del theirs
        self.assertIsNone(there())

    def test_a_change_between_two_epochs_keeps_their_number(self):
        data = self.folder()
        loader = like(DataLoader(data, shuffle=True))
        labels_of(loader)
        data.transform = Compose([RandomResizedCrop(24), ToTensor()])
        images, _ = next(iter(loader))
        self.assertEqual((images.shape[2], loader.state_dict()["epoch"], loader.state_dict()["position"]), (24, 1, 1))


if __name__ == "__main__":
    unittest.main()
