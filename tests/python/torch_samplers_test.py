"""Samplers of PyTorch's that are asked at every epoch, and datasets made of others, in feedrate.torch.DataLoader."""

import collections
import copy
import itertools
import pickle
import unittest

import feedrate
from support import IMAGES, folder, mnist

try:
    import torch
    from torch.utils import data
except ImportError:
    torch = None
try:
    import torchvision
except ImportError:
    torchvision = None


def indices(loader):
    loader._indices = True
    return [batch[2].tolist() for batch in loader]


def flat(loader):
    return sum(indices(loader), [])


@unittest.skipUnless(torch, "PyTorch is not installed")
class InteropSamplers(unittest.TestCase):
    def loader(self, dataset=None, **options):
        return feedrate.torch.DataLoader(mnist() if dataset is None else dataset, "mnist", **options)

    def test_orders_are_those_of_pytorchs_loader(self):
        """Of epochs one after the other, since samplers draw anew at each."""

        def drawn(kind, *arguments, **options):
            return kind(*arguments, **options, generator=torch.Generator().manual_seed(3))

        whole = range(IMAGES)
        for make in (
            lambda: drawn(data.RandomSampler, whole, replacement=True, num_samples=50),
            lambda: drawn(data.RandomSampler, whole, num_samples=900),
            lambda: drawn(data.WeightedRandomSampler, [1.0] * IMAGES, 70, replacement=False),
            lambda: list(range(0, 90, 3)),
            lambda: torch.arange(7, 50),
        ):
            for batch, drop in (7, False), (16, True):
                theirs = data.DataLoader(whole, batch, sampler=make(), drop_last=drop)
                ours = self.loader(sampler=make(), batch_size=batch, drop_last=drop)
                self.assertEqual(len(ours), len(theirs))
                for _ in range(3):
                    self.assertEqual(indices(ours), [some.tolist() for some in theirs])

    def test_shares_of_a_distributed_sampler_are_as_large_as_pytorchs(self):
        """And hold the same samples as often, where it does not shuffle: it pads or cuts an epoch to whole steps."""
        dataset = feedrate.open(mnist())
        for size, ranks in (IMAGES, 2), (IMAGES, 7), (65, 3), (7, 3), (2, 5), (64, 3):
            for cuts, drop, shuffle in itertools.product((False, True), repeat=3):
                for batch in 1, 7, 64:
                    theirs, ours = [], []
                    for rank in range(ranks):
                        sampler = data.DistributedSampler(range(size), ranks, rank, shuffle, drop_last=cuts)
                        options = {"batch_size": batch, "sampler": sampler, "drop_last": drop}
                        theirs.append([one.tolist() for one in data.DataLoader(range(size), **options)])
                        if theirs[-1]:
                            ours.append(indices(self.loader(data.Subset(dataset, range(size)), threads=0, **options)))
                        else:
                            with self.assertRaisesRegex(ValueError, "no batch"):
                                self.loader(data.Subset(dataset, range(size)), threads=0, **options)
                    if theirs[0]:
                        case = size, ranks, cuts, drop, shuffle, batch
                        sizes = [[list(map(len, one)) for one in all] for all in (ours, theirs)]
                        self.assertEqual(sizes[0], sizes[1], case)
                        found, expected = (collections.Counter(sum(sum(all, []), [])) for all in (ours, theirs))
                        self.assertEqual(sorted(found.values()), sorted(expected.values()), case)
                        if not shuffle and not drop:
                            self.assertEqual(found, expected, case)

    def test_shares_of_one_size_outlive_pickles_and_states(self):
        sampler = data.DistributedSampler(range(IMAGES), 7, 6)
        loader = self.loader(sampler=sampler, batch_size=25)
        iterator = iter(loader)
        next(iterator)
        again = pickle.loads(pickle.dumps(loader))
        again.load_state_dict(loader.state_dict())
        rest = [batch[1].tolist() for batch in iterator]
        self.assertEqual([batch[1].tolist() for batch in again], rest)
        self.assertEqual([len(one) for one in rest], [25, 25, 11])
        state = loader.state_dict()
        self.assertEqual((state["seed"], state["epoch"], state["position"]), (0, 1, 0))

    def test_the_epoch_of_any_sampler_is_the_next_iterations(self):
        class Derived(data.DistributedSampler):
            pass

        class InBatches(data.BatchSampler):
            pass

        for kind in data.DistributedSampler, Derived:
            sampler = kind(range(IMAGES), 2, 1)
            sampler.set_epoch(4)  # before there is a loader
            loader, found = self.loader(sampler=sampler, batch_size=20), []
            for epoch in 4, 1, 0, 5:
                sampler.set_epoch(epoch)
                found.append(flat(loader))
            other = kind(range(IMAGES), 2, 1)
            again = self.loader(sampler=other, batch_size=20)
            for epoch, expected in zip((4, 1, 0, 5), found):
                other.set_epoch(epoch)
                self.assertEqual(flat(again), expected)
                if kind is Derived:
                    self.assertEqual(expected, list(other), epoch)
        inner = data.DistributedSampler(range(IMAGES), 2, 1)
        loader = self.loader(batch_sampler=InBatches(inner, 20, True))
        for epoch in 3, 1, 0:
            inner.set_epoch(epoch)
            self.assertEqual(indices(loader), list(data.BatchSampler(inner, 20, True)))

    def test_a_sampler_is_asked_when_an_iteration_starts(self):
        class Mine:
            first = asked = 0

            def __iter__(self):
                self.asked += 1
                return iter(range(self.first, self.first + 4))

            def __len__(self):
                return 4

        sampler = Mine()
        loader = self.loader(sampler=sampler, batch_size=3)
        self.assertEqual((len(loader), sampler.asked), (2, 0))
        for first in 7, 9, 0:
            sampler.first = first
            self.assertEqual(flat(loader), list(range(first, first + 4)))
        iterator = iter(loader)
        next(iterator)
        loader.load_state_dict(loader.state_dict())
        sampler.first = 50
        self.assertEqual(flat(loader), [3], "the rest of what it had said")

    def test_what_has_no_end_or_nothing_is_refused_by_name(self):
        for options, words in (
            ({"sampler": itertools.count()}, "sampler: has yielded .* and goes on: .*islice"),
            ({"sampler": itertools.cycle([3, 1])}, "sampler: has yielded .* and goes on"),
            ({"batch_sampler": itertools.repeat([1, 2])}, "batch_sampler: has yielded .* and goes on"),
            ({"sampler": []}, "sampler: it yields no indices"),
            ({"batch_sampler": [[]]}, "batch_sampler: it yields no indices"),
            ({"batch_sampler": 5}, "batch_sampler: expected lists of indices, or a sampler of them, found 5"),
            ({"batch_sampler": [1, 2]}, "batch_sampler: expected lists of indices, found 1"),
            ({"sampler": [3, IMAGES]}, f"sampler: expected indices from 0 to {IMAGES - 1}, found {IMAGES}"),
            ({"sampler": [-1]}, "sampler: expected indices from 0 to .*, found -1"),
        ):
            with self.subTest(options), self.assertRaisesRegex((TypeError, ValueError), words):
                self.loader(**options)
        once = self.loader(sampler=iter([1, 2]))
        self.assertEqual(flat(once), [1, 2])
        with self.assertRaisesRegex(ValueError, "sampler: it yields no indices"):
            flat(once)
        few = data.Subset(feedrate.open(mnist()), range(5))
        with self.assertRaisesRegex(ValueError, "sampler: expected indices from 0 to 4, found 70"):
            self.loader(few, sampler=[70])
        with self.assertRaisesRegex(ValueError, "dataset: a Subset lists samples beyond the 5 that it is of"):
            self.loader(data.Subset(few, [7]))
        with self.assertRaisesRegex(ValueError, "dataset: the Subset holds no samples"):
            self.loader(data.Subset(few, []))

    def test_samples_without_a_weight_are_not_drawn(self):
        loader = self.loader(sampler=data.WeightedRandomSampler([1.0] * 20, 90))
        self.assertEqual((len(flat(loader)), set(flat(loader)) - set(range(20))), (90, set()))

    def test_arguments_are_taken_by_name(self):
        for arguments in (64,), ("mnist", 64), (64, True):
            with self.assertRaisesRegex(TypeError, "the second argument is the recipe .* batch_size="):
                feedrate.torch.DataLoader(mnist(), *arguments)

    def test_a_copy_is_a_loader_of_its_own(self):
        loader = self.loader(batch_size=100, seed=1)
        flat(loader)
        copies = [copy.copy(loader), copy.deepcopy(loader), pickle.loads(pickle.dumps(loader))]
        expected = indices(loader)
        for both in zip(*map(iter, copies), strict=True):
            self.assertEqual([batch[2].tolist() for batch in both], [expected[0]] * 3)
            expected.pop(0)
        self.assertEqual(expected, [])

    def test_who_asks_for_a_sampler_is_told_of_set_epoch_and_states(self):
        for name in "sampler", "batch_sampler":
            with self.assertRaisesRegex(AttributeError, "set_epoch .* load_state_dict .* register_for_checkpointing"):
                getattr(self.loader(), name)

    def test_a_functions_stop_iteration_is_an_error(self):
        def stop(*_):
            raise StopIteration

        for loader, name in (
            (self.loader(transform=stop), "transform"),
            (self.loader(sample_transform=stop), "sample_transform"),
            (feedrate.Loader(mnist(), transform=stop), "transform"),
        ):
            with self.assertRaisesRegex(RuntimeError, f"^{name} raised StopIteration"):
                list(loader)


@unittest.skipUnless(torch, "PyTorch is not installed")
class InteropDatasets(unittest.TestCase):
    def loader(self, dataset, recipe="mnist", **options):
        return feedrate.torch.DataLoader(dataset, recipe, **options)

    def test_joined_datasets_are_as_pytorch_joins_them(self):
        one, other = feedrate.open(mnist()), feedrate.torch.Dataset(mnist(to="recordio"))
        for joined in (
            data.ConcatDataset([one, other]),
            data.ConcatDataset([one, one]),
            data.ConcatDataset([data.Subset(other, [5, 3, 3]), one, data.Subset(one, [9])]),
            data.Subset(data.ConcatDataset([one, other]), [IMAGES + 5, 3, 2 * IMAGES - 1]),
            data.ConcatDataset([data.ConcatDataset([other, other]), other]),
            other + feedrate.torch.Dataset(one),
        ):
            expected = [joined[at] for at in range(len(joined))]
            loader = self.loader(joined, "none", shuffle=False, batch_size=64)
            self.assertEqual((len(loader.dataset), len(loader)), (len(joined), (len(joined) + 63) // 64))
            found = [(image, label) for images, labels in loader for image, label in zip(images, labels)]
            self.assertEqual(len(found), len(expected))
            for (image, label), given in zip(found, expected):
                theirs = given[0] if torch.is_tensor(given[0]) else torch.from_dlpack(given.image).permute(2, 0, 1)
                self.assertTrue(torch.equal(image, theirs) and label == given[1])
            shuffled = self.loader(joined, "none", shuffle=True, batch_size=64)
            self.assertEqual(sorted(flat(shuffled)), sorted(flat(loader)))
            self.assertNotEqual(flat(shuffled), flat(shuffled))
        joined = data.ConcatDataset([one, other])
        self.assertEqual(len(flat(self.loader(joined, sampler=data.RandomSampler(joined)))), 2 * IMAGES)
        with self.assertRaisesRegex(ValueError, "weights: not for a .* ConcatDataset; .* feedrate.mix"):
            self.loader(joined, weights="balanced")

    def test_derived_datasets_that_make_their_samples_themselves_are_refused(self):
        def item(self, index):
            return torch.zeros(3), index

        def derived(kind, **members):
            return type("Mine", (kind,), members)

        ours = feedrate.torch.Dataset(mnist())
        given = [
            derived(data.Subset, __getitem__=item, __getitems__=item)(ours, [1]),
            derived(data.Subset, __getitems__=lambda self, some: some)(ours, [1]),
            derived(feedrate.torch.Dataset, __getitem__=item)(mnist()),
            derived(feedrate.torch.Dataset, __len__=lambda self: 3)(mnist()),
            derived(data.ConcatDataset, __getitem__=item)([ours]),
            data.Subset(derived(data.Subset, __getitem__=item, __getitems__=item)(ours, [1]), [0]),
        ]
        if torchvision is not None:
            ImageFolder = torchvision.datasets.ImageFolder
            given.append(derived(ImageFolder, __getitem__=item)(folder()))
            with self.assertRaisesRegex(ValueError, "the ImageFolder has a loader, which would not be called"):
                self.loader(ImageFolder(folder(), loader=lambda path: path))
            loader = self.loader(derived(ImageFolder)(folder()), "imagenet-eval")
            self.assertEqual(len(flat(loader)), len(loader.dataset))
        for one in given:
            with self.assertRaisesRegex(ValueError, "Mine has a __.* of its own, which would not be called"):
                self.loader(one)
        self.assertEqual(len(flat(self.loader(derived(data.Subset, names=())(ours, [1, 2])))), 2)


if __name__ == "__main__":
    unittest.main()
