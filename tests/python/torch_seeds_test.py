"""The seeds of `feedrate.torch.DataLoader`: drawn as PyTorch's loader draws its own, or stated."""

import copy
import itertools
import pickle
import unittest
import unittest.mock

import feedrate
from support import IMAGES, mnist, photographs

try:
    import torch
    from torch.utils import data
except ImportError:
    torch = None

PHOTOGRAPHS = 64


def epoch(loader):
    """Which samples, and their pixels."""
    loader._indices = True
    batches = [(indices.tolist(), images) for images, _, indices in loader]
    return sum((indices for indices, _ in batches), []), torch.cat([images for _, images in batches])


@unittest.skipUnless(torch, "PyTorch is not installed")
class InteropSeeds(unittest.TestCase):
    def loader(self, **options):
        return feedrate.torch.DataLoader(photographs(), "imagenet-train:size=16", **{"batch_size": 24, "threads": 2, **options})

    def digits(self, **options):
        return feedrate.torch.DataLoader(mnist(), "mnist", **options)

    def expect_same(self, one, other):
        self.assertEqual(one[0], other[0])
        self.assertTrue(torch.equal(one[1], other[1]))

    def expect_other(self, one, other, same_order=False):
        """No image in common, though the samples are the same."""
        self.assertEqual(sorted(one[0]), sorted(other[0]))
        self.assertEqual(one[0] == other[0], same_order)
        places = [other[0].index(index) for index in one[0]]
        same = [torch.equal(image, other[1][place]) for image, place in zip(one[1], places)]
        self.assertEqual(sum(same), 0)

    def test_loaders_differ_however_they_are_made(self):
        ways = {
            "two": lambda **more: [epoch(self.loader(**more)), epoch(self.loader(**more))],
            "an epoch each": lambda **more: [epoch(loader) for loader in [self.loader(**more)] * 3],
            "copies": lambda **more: [epoch(copy.copy(loader)) for loader in [self.loader(**more)] * 2],
        }
        for (name, make), shared in itertools.product(ways.items(), (False, True)):
            with self.subTest(name, generator=shared):
                generator = torch.Generator().manual_seed(4)
                found = make(**({"generator": generator} if shared else {}))
                for one, other in itertools.combinations(found, 2):
                    self.expect_other(one, other)

    def test_a_loader_beside_itself_yields_two_epochs(self):
        loader = self.loader(indices=True)
        both = [(one[2], other[2], one[0], other[0]) for one, other in zip(loader, loader)]
        one, other = ((sum((each[at].tolist() for each in both), []), torch.cat([each[at + 2] for each in both])) for at in (0, 1))
        self.expect_other(one, other)

    def test_manual_seed_repeats_all(self):
        def made(seed):
            torch.manual_seed(seed)
            loader = self.loader()
            return epoch(loader), epoch(loader), epoch(self.loader())

        first, again, other = made(1), made(1), made(2)
        for one, two, three in zip(first, again, other):
            self.expect_same(one, two)
            self.expect_other(one, three)

    def test_a_samplers_order_is_not_drawn_and_pixels_are(self):
        for options in (
            {"shuffle": False},
            {"order": range(40)},
            {"sampler": data.SequentialSampler(range(PHOTOGRAPHS))},
            {"sampler": data.DistributedSampler(range(PHOTOGRAPHS), 2, 1)},
            {"sampler": [5, 3, 1]},
        ):
            with self.subTest(options):
                loaders = self.loader(**options), self.loader(**options)
                found = [epoch(loader) for loader in loaders]
                self.expect_other(*found, same_order=True)

    def test_takes_from_generators_what_pytorch_takes(self):
        """Of the same number of epochs. The states say where each stands."""
        whole = range(IMAGES)

        def states(generator):
            return torch.get_rng_state().tolist(), generator.get_state().tolist()

        cases = {
            "shuffle": lambda own: {"shuffle": True},
            "in order": lambda own: {"shuffle": False},
            "generator": lambda own: {"shuffle": True, "generator": own},
            "generator in order": lambda own: {"shuffle": False, "generator": own},
            "random": lambda own: {"sampler": data.RandomSampler(whole), "generator": own},
            "random by its own": lambda own: {"sampler": data.RandomSampler(whole, generator=own)},
            "drawn again": lambda own: {"sampler": data.RandomSampler(whole, replacement=True, num_samples=50)},
            "subset": lambda own: {"sampler": data.SubsetRandomSampler(range(7, 300))},
            "subset by its own": lambda own: {"sampler": data.SubsetRandomSampler(range(90), own), "generator": own},
            "weighted": lambda own: {"sampler": data.WeightedRandomSampler([1.0] * IMAGES, 250)},
            "weighted by its own": lambda own: {"sampler": data.WeightedRandomSampler([1.0] * IMAGES, 50, generator=own)},
            "distributed": lambda own: {"sampler": data.DistributedSampler(whole, 3, 1)},
            "batches": lambda own: {"batch_sampler": data.BatchSampler(data.RandomSampler(whole), 50, True)},
            "persistent": lambda own: {"shuffle": True, "num_workers": 1, "persistent_workers": True},
        }
        for name, make in cases.items():
            found = []
            for kind in (lambda **options: data.DataLoader(whole, **options)), self.digits:
                torch.manual_seed(6)
                own = torch.Generator().manual_seed(7)
                options = make(own)
                if "batch_sampler" not in options:
                    options["batch_size"] = 100
                loader = kind(**options)
                found.append([])
                for _ in range(3):
                    self.assertGreater(len([batch for batch in loader]), 0)
                    found[-1].append(states(own))
            for number, (theirs, ours) in enumerate(zip(*found)):
                self.assertTrue(theirs == ours, f"{name}, epoch {number}")

    def test_making_and_asking_draw_nothing(self):
        before = torch.get_rng_state()
        loader = self.loader()
        self.assertEqual(len(loader), 3)
        repr(loader), copy.copy(loader), pickle.dumps(loader)
        self.assertTrue(torch.equal(before, torch.get_rng_state()))

    def test_a_stated_seed_is_as_it_was(self):
        """Nothing is drawn from PyTorch's generators; the epochs are those of `feedrate.Loader`."""
        before = torch.get_rng_state()
        loader = self.digits(seed=5, batch_size=100, indices=True)
        found = [[batch[2].tolist() for batch in loader] for _ in range(2)]
        expected = [list(batch.indices) for batch in feedrate.Loader(mnist(), "mnist", batch=100, seed=5, epochs=2)]
        self.assertEqual(sum(found, []), expected)
        self.assertEqual(loader.state_dict(), {"seed": 5, "epoch": 2, "position": 0})
        self.assertTrue(torch.equal(before, torch.get_rng_state()))
        with self.assertRaisesRegex(ValueError, "generator and seed exclude each other"):
            self.digits(seed=5, generator=torch.Generator())

    def test_a_state_is_what_would_have_come(self):
        """Wherever it is taken, also between two epochs, by a loader that has drawn something else before."""
        for taken in range(7):
            loader = self.loader(indices=True)
            for _ in range(taken // 3):
                list(loader)
            for _ in itertools.islice(loader, taken % 3):
                pass
            state = loader.state_dict()
            self.assertEqual(state, loader.state_dict())
            again = self.loader(threads=1)
            epoch(again)
            again.load_state_dict(pickle.loads(pickle.dumps(state)))
            again.set_epoch(state["epoch"])  # as Trainers do
            if taken % 3 == 0:
                self.expect_same(epoch(loader), epoch(again))
                continue
            whole = self.loader()
            whole.load_state_dict({**state, "position": 0})
            order, images = epoch(whole)
            self.expect_same((order[taken % 3 * 24 :], images[taken % 3 * 24 :]), epoch(again))

    def test_a_state_in_the_last_batch_is_the_end_of_its_epoch(self):
        """As torchdata's StatefulDataLoader has it: the rest is empty, and the next iteration is the next epoch."""
        for options in {}, {"seed": 4}, {"seed": 4, "persistent_workers": False}, {"sampler": range(60)}:
            loader = self.loader(**options)
            for number, _ in enumerate(loader):
                if number == 2:
                    state = loader.state_dict()
                    break
            self.assertEqual((state["epoch"], state["position"]), (0, 60 if "sampler" in options else PHOTOGRAPHS))
            again = self.loader(**options)
            again.load_state_dict(state)
            self.assertEqual([len([batch for batch in again]) for _ in range(3)], [0, 3, 3])
            again.load_state_dict(state)
            list(again)
            other = loader if "seed" in options else copy.copy(again)
            other.load_state_dict(again.state_dict())
            self.expect_same(epoch(again), epoch(other))
            self.assertEqual(other.state_dict()["epoch"], 2)

    def test_a_state_without_draws_is_of_one_seed(self):
        """As states are of loaders whose seed is stated, and were of all."""
        loader = self.loader()
        loader.load_state_dict({"seed": 5, "epoch": 1, "position": 0})
        stated = self.loader(seed=5)
        epoch(stated)
        self.expect_same(epoch(loader), epoch(stated))

    def test_set_epoch_repeats_nothing(self):
        loader = self.loader()
        found = []
        for _ in range(2):
            loader.set_epoch(3)
            found.append(epoch(loader))
            self.assertEqual(loader.state_dict()["epoch"], 4)
        self.expect_other(*found)

    def test_ranks_have_one_order_and_draws_of_their_own(self):
        """Without a word to each other: each process has drawn other numbers before, and one takes part alone."""
        for options in {}, {"generator": True}:
            found = []
            for rank in range(2):
                torch.manual_seed(rank)
                if options:
                    options["generator"] = torch.Generator().manual_seed(9)
                    torch.rand(rank, generator=options["generator"])
                with unittest.mock.patch("feedrate.torch._share", return_value=(rank, 2)):
                    loader = self.loader(**options)
                    for number in range(2):
                        order, images = epoch(loader)
                        state = loader.state_dict()
                        found.append((number, order, state))
            for number in range(2):
                of_all = sum((order for epoch_number, order, _ in found if epoch_number == number), [])
                self.assertEqual(sorted(of_all), list(range(PHOTOGRAPHS)))
            states = [state for *_, state in found]
            self.assertEqual({state["seed"] for state in states}, {9 if options else 1})
            self.assertEqual(len({state["draws"] for state in states}), 4)

    def test_a_loader_that_was_alone_shares_an_order_with_ranks_that_come(self):
        found = []
        for rank in range(2):
            with unittest.mock.patch("feedrate.torch._share", return_value=(0, 1)) as share:
                loader = self.loader()
                epoch(loader)
                share.return_value = rank, 2
                found += epoch(loader)[0]
        self.assertEqual(sorted(found), list(range(PHOTOGRAPHS)))

    def test_statistics_outlive_an_epoch(self):
        loader = self.loader()
        for _ in range(2):
            epoch(loader)
            self.assertEqual(loader.stats()["images"], PHOTOGRAPHS)

    def test_no_image_of_a_next_epoch_is_prepared_with_seeds_that_will_not_be_its_own(self):
        """All bytes of 64 photographs are read twice in two epochs, and no more."""
        loader, read = self.loader(), []
        for _ in range(2):
            epoch(loader)
            read.append(loader.stats()["bytes_read"])
        of_one_epoch = self.loader(threads=0, shuffle=False)
        epoch(of_one_epoch)
        self.assertEqual(read, [of_one_epoch.stats()["bytes_read"]] * 2)


if __name__ == "__main__":
    unittest.main()
