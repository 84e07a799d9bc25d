"""feedrate.torch.DataLoader where PyTorch's is expected: its arguments, samplers and datasets."""

import os
import tempfile
import unittest

import feedrate
from support import IMAGES, folder, mnist, photographs, python

try:
    import torch
    from torch.utils import data
except ImportError:
    torch = None
try:
    import torchvision
except ImportError:
    torchvision = None
try:
    import PIL.Image
except ImportError:
    PIL = None
try:
    import timm
except ImportError:
    timm = None


class UnitLazy(unittest.TestCase):
    def test_torch_is_imported_when_it_is_used(self):
        code = """
import sys, feedrate
assert "torch" not in sys.modules and "feedrate.torch" not in sys.modules
try:
    print(feedrate.torch.DataLoader.__name__)
except ModuleNotFoundError as error:
    print(error)
assert not hasattr(feedrate, "troch")
"""
        done = python(code)
        expected = "DataLoader\n" if torch else "No module named 'torch'\n"
        self.assertEqual((done.stdout, done.stderr), (expected, ""))


@unittest.skipUnless(torch, "PyTorch is not installed")
class InteropNames(unittest.TestCase):
    def loader(self, dataset=None, recipe="mnist", **options):
        path = mnist() if dataset is None else dataset
        return feedrate.torch.DataLoader(path, recipe, **{"batch_size": 64, **options})

    def indices(self, loader, epochs=1):
        loader._indices = True
        return [batch[2].tolist() for _ in range(epochs) for batch in loader]

    def flat(self, loader):
        return sum(self.indices(loader), [])

    def test_names_of_pytorch_are_ours(self):
        theirs = self.loader(num_workers=3, seed=7, pixels="f32", mean=30.0, std=70.0, shuffle=True)
        ours = self.loader(threads=3, seed=7, pixels="f32", mean=30.0, deviation=70.0, shuffle=True)
        for (images, labels), (expected, classes) in zip(theirs, ours, strict=True):
            self.assertTrue(torch.equal(images, expected) and torch.equal(labels, classes))
        self.assertEqual(theirs.stats()["threads"], 3)
        self.loader(
            num_workers=0, collate_fn=data.default_collate, worker_init_fn=None, prefetch_factor=None,
            timeout=0, multiprocessing_context=None, pin_memory_device="", in_order=True, generator=None,
        )  # fmt: skip

    def test_threads_end_with_the_epoch_where_workers_are_not_persistent(self):
        for persistent, alive in (None, True), (True, True), (False, False):
            loader = self.loader(persistent_workers=persistent, threads=1)
            self.assertEqual(len(self.indices(loader, 2)), 2 * len(loader))
            self.assertEqual(bool(loader.stats()), alive)

    def test_what_has_no_meaning_here_is_refused_with_what_there_is_instead(self):
        for options, words in (
            ({"collate_fn": list}, "collate_fn: .* transform="),
            ({"worker_init_fn": print}, "worker_init_fn: .* seed="),
            ({"prefetch_factor": 2}, "prefetch_factor: threads=N"),
            ({"timeout": 3}, "timeout: .* close"),
            ({"multiprocessing_context": "spawn"}, "multiprocessing_context: threads="),
            ({"pin_memory_device": "cuda"}, "pin_memory_device: device="),
            ({"in_order": False}, "in_order: "),
            ({"generator": 3}, "generator: expected a torch.Generator, or seed=, found 3"),
            ({"num_workers": "two"}, "num_workers: expected a whole number from 0 to 256"),
            ({"sampler": 3}, "sampler: expected indices"),
            ({"bach": 3}, "no setting 'bach'"),
        ):
            with self.subTest(options), self.assertRaisesRegex((TypeError, ValueError), words):
                self.loader(**options)
        sampler = data.SequentialSampler(range(IMAGES))
        for options, words in (
            ({"num_workers": 2, "threads": 2}, "num_workers and threads are the same"),
            ({"std": 2.0, "deviation": 2.0}, "std and deviation are the same"),
            ({"generator": torch.Generator(), "seed": 1}, "generator and seed exclude"),
            ({"sampler": sampler, "shuffle": True}, "a sampler and shuffle exclude"),
            ({"sampler": sampler, "weights": "balanced"}, "a sampler and weights exclude"),
            ({"sampler": data.SequentialSampler(range(5))}, "of 5 samples, the dataset has 600"),
            ({"batch_sampler": [[1]], "sampler": sampler, "batch_size": 64}, "batch_sampler excludes"),
            ({"batch_sampler": [[1]], "batch_size": 64}, "batch_sampler excludes"),
            ({"batch_sampler": [[1, 2], [3], [4, 5]], "batch_size": 1}, "batch 1 holds 1 indices, those before 2"),
        ):
            with self.subTest(options), self.assertRaisesRegex(ValueError, words):
                self.loader(**options)

    def test_samplers_become_settings(self):
        weights = [float(index % 3) for index in range(IMAGES)]
        for sampler, options in (
            (data.SequentialSampler(range(IMAGES)), {"shuffle": False}),
            (data.RandomSampler(range(IMAGES), generator=torch.Generator()), {"shuffle": True}),
            (data.SubsetRandomSampler([5, 9, 2, 70]), {"order": [5, 9, 2, 70], "shuffle": True}),
            (data.WeightedRandomSampler(weights, 90), {"weights": weights, "draws": 90}),
        ):
            loader, other = self.loader(sampler=sampler, shuffle=False), self.loader(**options)
            for _ in range(2):
                other.load_state_dict(loader.state_dict())
                self.assertEqual(self.indices(loader), self.indices(other), type(sampler))

    def test_a_distributed_samplers_epoch_is_the_next_iterations(self):
        sampler = data.DistributedSampler(range(IMAGES), 2, 0)
        loader = self.loader(sampler=sampler)
        other = self.loader(seed=0, shuffle=True)
        epochs = [self.flat(other)[::2] for _ in range(4)]  # dealt one by one
        for epoch in 0, 1, 3, 2, 3:
            sampler.set_epoch(epoch)
            self.assertEqual(self.flat(loader), epochs[epoch])

    def test_any_other_sampler_is_asked_at_every_epoch(self):
        class Mine:
            epoch = 0

            def set_epoch(self, epoch):
                self.epoch = epoch

            def __iter__(self):
                return iter(range(self.epoch, 100 + self.epoch))

        loader = self.loader(sampler=Mine(), batch_size=30)
        self.assertEqual(len(loader), 4)
        for epoch in 0, 1, 2:
            self.assertEqual(self.flat(loader), list(range(epoch, 100 + epoch)))
        state = {"seed": 1, "epoch": 5, "position": 60}
        loader = self.loader(sampler=Mine(), batch_size=30)
        loader.load_state_dict(state)
        self.assertEqual(self.flat(loader), list(range(65, 105)))
        self.assertEqual(self.flat(self.loader(sampler=[7, 7, 3])), [7, 7, 3])

    def test_batch_samplers_say_which_indices_and_how_many(self):
        batches = data.BatchSampler(data.SequentialSampler(range(IMAGES)), 50, drop_last=True)
        loader = feedrate.torch.DataLoader(mnist(), "mnist", batch_sampler=batches)
        self.assertEqual(self.indices(loader), [list(range(at, at + 50)) for at in range(0, IMAGES, 50)])
        mine = [[1, 2, 3], [4, 5, 6], [9]]
        loader = feedrate.torch.DataLoader(mnist(), "mnist", batch_sampler=mine)
        self.assertEqual((self.indices(loader, 2), loader.batch_size, len(loader)), (mine * 2, 3, 3))

    def test_a_subset_is_an_order_that_is_shuffled_like_a_dataset(self):
        whole = feedrate.open(mnist())
        subset = data.Subset(data.Subset(whole, range(100, 300)), range(50))
        loader = self.loader(subset)
        self.assertEqual((len(loader.dataset), len(loader)), (50, 1))
        found = self.flat(loader)
        self.assertEqual(sorted(found), list(range(100, 150)))
        self.assertNotEqual(found, sorted(found))
        ordered = list(range(100, 150))
        self.assertEqual(self.flat(self.loader(subset, shuffle=False)), ordered)
        self.assertEqual(self.flat(self.loader(subset, sampler=data.SequentialSampler(subset))), ordered)
        self.assertEqual(self.flat(self.loader(subset, sampler=[3, 1])), [103, 101])
        first, second = data.random_split(whole, [400, 200], torch.Generator().manual_seed(1))
        both = self.flat(self.loader(first)) + self.flat(self.loader(second))
        self.assertEqual(sorted(both), list(range(IMAGES)))
        with self.assertRaisesRegex(ValueError, "weights: not for a torch.utils.data.Subset"):
            self.loader(subset, weights="balanced")

    def test_what_is_no_flag_and_no_function_is_refused(self):
        for options, words in (
            ({"indices": [1, 2]}, r"indices: expected True or False, whether .* \(order= chooses samples\), found \[1, 2\]"),
            ({"drop_last": "drop"}, "drop_last: expected True or False, found 'drop'"),
            ({"persistent_workers": 2}, "persistent_workers: expected True or False, found 2"),
            ({"pin_memory": "cuda"}, "pin_memory: expected True or False, found 'cuda'"),
            ({"transform": [1]}, r"transform: expected a function, found \[1\]"),
            ({"sample_transform": "flip"}, "sample_transform: expected a function, found 'flip'"),
        ):
            with self.subTest(options), self.assertRaisesRegex(TypeError, words):
                self.loader(**options)
        with self.assertRaisesRegex(TypeError, "transform: expected a function, found 3"):
            feedrate.Loader(mnist(), transform=3)
        for epoch in 1.5, "1", None:
            with self.assertRaisesRegex(TypeError, "epoch: expected a whole number from 0, found"):
                self.loader().set_epoch(epoch)

    def test_masks_and_fractions_are_no_indices(self):
        dataset, mask = feedrate.open(mnist()), torch.arange(IMAGES) % 2 == 0
        for given in mask, mask.tolist(), mask.numpy(), list(mask), [0.5, 1], torch.tensor([1.0]):
            with self.assertRaisesRegex(TypeError, "Subset: expected indices, found (True|0.5|1.0)"):
                self.loader(data.Subset(dataset, given))
            for sampler in given, data.SubsetRandomSampler(given):
                with self.assertRaisesRegex(TypeError, "sampler: expected indices, found (True|0.5|1.0)"):
                    self.loader(sampler=sampler)
        for given in mask, mask.tolist(), mask.numpy(), [0.5, 1], torch.tensor([1.0]):
            with self.assertRaisesRegex(TypeError, "order: at place 0: expected a whole number .* found"):
                self.loader(order=given)
        for given in torch.tensor([3, 1]), list(torch.tensor([3, 1])), torch.tensor([3, 1]).numpy():
            self.assertEqual(self.flat(self.loader(data.Subset(dataset, given), shuffle=False)), [3, 1])
            self.assertEqual(self.flat(self.loader(sampler=given)), [3, 1])
            self.assertEqual(self.flat(self.loader(order=given, shuffle=False)), [3, 1])

    @unittest.skipIf(torch and torch.cuda.is_available(), "there is a GPU")
    def test_a_device_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(RuntimeError, "device: .* found cuda:1: PyTorch finds no GPU"):
            self.loader(device="cuda:1")

    @unittest.skipUnless(torchvision, "torchvision is not installed")
    def test_an_image_folder_is_the_folder(self):
        theirs = torchvision.datasets.ImageFolder(folder())
        ours = feedrate.open(folder())
        self.assertEqual(
            (ours.classes, ours.class_to_idx, ours.targets), (theirs.classes, theirs.class_to_idx, theirs.targets)
        )
        options = {"recipe": "imagenet-eval", "batch_size": 16}
        for given, expected in (theirs, range(64)), (data.Subset(theirs, [9, 4]), [9, 4]):
            loader = self.loader(given, shuffle=False, **options)
            self.assertEqual(self.flat(loader), list(expected))
            self.assertEqual(len(loader.dataset), len(expected))
        with self.assertRaisesRegex(ValueError, "ImageFolder has a transform, .* recipe="):
            self.loader(torchvision.datasets.ImageFolder(folder(), transform=list))
        with self.assertRaisesRegex(ValueError, "the ImageFolder lists it, Feedrate does not: give the path"):
            hidden = os.path.join(os.path.dirname(theirs.samples[0][0]), ".hidden.jpg")
            theirs.samples.append((hidden, 0))
            self.loader(theirs)
        with self.assertRaisesRegex(TypeError, "dataset: expected a dataset of feedrate.open or its path"):
            self.loader(torch.zeros(3))

    @unittest.skipUnless(torchvision, "torchvision is not installed")
    def test_an_image_folder_holds_the_samples_that_it_lists(self):
        """Also where they were cut, filtered, given other classes, or are of a class derived from it."""
        ImageFolder, options = torchvision.datasets.ImageFolder, {"recipe": "imagenet-eval", "shuffle": False}
        cut = ImageFolder(folder())
        cut.samples = cut.samples[20:10:-1]
        for given, expected in (cut, range(20, 10, -1)), (data.Subset(cut, [3, 1]), [17, 19]):
            self.assertEqual(self.flat(self.loader(given, **options)), list(expected))
        first = cut.samples[0][0]
        few = ImageFolder(folder(), is_valid_file=lambda path: path != first)
        self.assertEqual(self.flat(self.loader(few, **options)), [i for i in range(64) if i != 20])
        cut.samples = [(path, label + 1) for path, label in cut.samples]
        for given, expected in (cut, cut.samples), (data.Subset(cut, [3, 1]), [cut.samples[3], cut.samples[1]]):
            labels = [label for _, labels in self.loader(given, **options) for label in labels.tolist()]
            self.assertEqual(labels, [label for _, label in expected])

        class Backwards(ImageFolder):
            def find_classes(self, directory):
                names, numbers = super().find_classes(directory)
                return names, {name: len(names) - 1 - number for name, number in numbers.items()}

        backwards = Backwards(folder())
        loader = self.loader(backwards, batch_size=64, **options)
        ((images, labels),) = loader
        self.assertEqual(labels.tolist(), [label for _, label in backwards.samples])
        ((expected, others),) = self.loader(ImageFolder(folder()), batch_size=64, **options)
        places = [[path for path, _ in one.samples] for one in (backwards, ImageFolder(folder()))]
        self.assertTrue(torch.equal(images, expected[[places[1].index(path) for path in places[0]]]))
        cut.samples[0] = cut.samples[0][0], -1
        with self.assertRaisesRegex(ValueError, "expected a label from 0 to .*, found -1"):
            self.loader(cut, **options)
        with tempfile.TemporaryDirectory() as root:
            os.symlink(folder(), os.path.join(root, "train"))
            open(os.path.join(root, "ILSVRC2012_devkit_t12.tar.gz"), "w").close()
            torch.save(({name: (name, "other") for name in os.listdir(folder())}, []), os.path.join(root, "meta.bin"))
            theirs = torchvision.datasets.ImageNet(root, "train")
            self.assertEqual(self.flat(self.loader(theirs, **options)), list(range(64)))

    def test_indices_lead_to_samples_and_stats_count_transforms(self):
        dataset = feedrate.open(mnist())
        doubled = self.loader(
            indices=True, recipe="none", sample_transform=lambda image: image.float() * 2, transform=lambda *all: all
        )
        for images, labels, indices in doubled:
            for image, label, index in zip(images, labels, indices):
                sample = dataset[int(index)]
                self.assertEqual(label, sample.label)
                self.assertTrue(torch.equal(image[0], 2 * torch.from_dlpack(sample.image)[:, :, 0].float()))
        stats = doubled.stats()
        self.assertGreater(stats["sample_transform_seconds"], 0)
        self.assertGreater(stats["transform_seconds"], 0)
        self.assertEqual(stats["images"], IMAGES)
        self.assertNotIn("sample_transform_seconds", self.loader().stats())

    def test_labels_may_be_numbers_and_rows(self):
        rows = torch.rand(IMAGES, 3)
        for labels, expected in (
            (rows, rows),
            (rows[:, 0], rows[:, 0]),
            (rows.tolist(), rows),
            ([index + 5 for index in range(IMAGES)], torch.arange(5, 5 + IMAGES)),
        ):
            for _, found, indices in self.loader(labels=labels, indices=True):
                self.assertTrue(torch.equal(found, expected[indices]))
                self.assertEqual(found.dtype, expected.dtype)
        recipe = feedrate.recipe("none") | feedrate.mixup()
        batch = next(iter(feedrate.Loader(mnist(), recipe, batch=64)))
        _, mixed, indices = next(iter(self.loader(recipe=recipe, labels=rows, indices=True, seed=1)))
        own = rows[indices]
        torch.testing.assert_close(mixed, batch.lam * own + (1 - batch.lam) * own.roll(1, 0))
        for labels, found in (range(IMAGES), 10), ([-1] * IMAGES, -1):
            with self.assertRaisesRegex(ValueError, f"classes below the dataset's 10, found {found}"):
                self.loader(recipe=recipe, labels=labels)
        tensors = [[1.0, 2.0], [[1, 2], [3, 4]]]
        for each in tensors:
            labels = torch.tensor(each).repeat(IMAGES // 2, *[1] * (torch.tensor(each).dim() - 1))
            for kept in list(labels), list(labels.numpy()):  # numbers and rows of other libraries
                _, found, indices = next(iter(self.loader(labels=kept, indices=True)))
                self.assertTrue(torch.equal(found, labels[indices].float()))

    def test_a_loader_says_what_it_is(self):
        said = repr(self.loader(rank=1, ranks=3))
        path = r"feedrate.Dataset\('.*': 600 images, lmdb\)"
        self.assertRegex(said, rf"^feedrate.torch.DataLoader\({path}, 4 batches of 64, rank 1 of 3\)$")


@unittest.skipUnless(torch, "PyTorch is not installed")
class InteropTheirLoader(unittest.TestCase):
    def test_pytorchs_own_loader_takes_a_dataset_of_ours(self):
        ours = feedrate.open(mnist())
        dataset = feedrate.torch.Dataset(ours, target_transform=lambda label: label + 10)
        self.assertEqual((len(dataset), dataset.targets, dataset.classes), (IMAGES, ours.targets, ours.classes))
        for workers in 0, 2:
            at = 0
            for images, labels in data.DataLoader(dataset, 100, num_workers=workers):
                self.assertEqual((images.shape, images.dtype), ((100, 1, 28, 28), torch.uint8))
                self.assertEqual(labels.tolist(), [label + 10 for label in ours.targets[at : at + 100]])
                at += 100
            self.assertEqual(at, IMAGES)
        loader = feedrate.torch.DataLoader(feedrate.torch.Dataset(mnist()), "mnist")
        self.assertEqual(sum(len(labels) for _, labels in loader), IMAGES)
        with self.assertRaisesRegex(ValueError, "target_transform, which would not be called"):
            feedrate.torch.DataLoader(dataset, "mnist")

    @unittest.skipUnless(PIL, "Pillow is not installed")
    def test_transforms_get_what_torchvisions_datasets_give(self):
        for path, mode in (mnist(), "L"), (photographs(), "RGB"):
            dataset = feedrate.torch.Dataset(path, transform=lambda image: image)
            image, label = dataset[5]
            sample = dataset.data[5]
            self.assertEqual((image.mode, image.tobytes(), label), (mode, sample.image.tobytes(), sample.label))

    @unittest.skipUnless(timm, "timm is not installed")
    def test_timms_loader_takes_a_dataset_of_ours(self):
        from timm.data import create_loader

        dataset = feedrate.torch.Dataset(photographs())
        loader = create_loader(
            dataset, (3, 64, 64), 16, is_training=True, use_prefetcher=False, num_workers=2, device=torch.device("cpu")
        )
        images, labels = next(iter(loader))
        self.assertEqual((images.shape, images.dtype, labels.dtype), ((16, 3, 64, 64), torch.float32, torch.int64))


if __name__ == "__main__":
    unittest.main()
