"""feedrate.torch.DataLoader, and the arrays in other libraries: whatever of them is installed."""

import array
import concurrent.futures
import os
import pickle
import tempfile
import unittest
import unittest.mock

import feedrate
from support import IMAGES, INTERRUPTS, content, interrupted_run, mnist, photographs, python

try:
    import torch
except ImportError:
    torch = None
try:
    import jax
except ImportError:
    jax = None
try:
    import tensorflow
except ImportError:
    tensorflow = None
try:
    import numpy
except ImportError:
    numpy = None


def first_batch(**options):
    return next(iter(feedrate.Loader(photographs(), "imagenet-eval", batch=8, **options)))


class InteropArrays(unittest.TestCase):
    """Of u8 images and int64 labels: the same values, at the same address."""

    def check(self, images, labels, batch):
        self.assertEqual((images.tobytes(), labels.tobytes()), content(batch)[:2])
        self.assertEqual((images.shape, labels.shape), ((8, 224, 224, 3), (8,)))

    @unittest.skipUnless(numpy, "NumPy is not installed")
    def test_numpy(self):
        batch = first_batch()
        self.check(numpy.asarray(batch.images), numpy.from_dlpack(batch.labels), batch)
        self.assertTrue(
            numpy.shares_memory(numpy.asarray(batch.images), numpy.from_dlpack(batch.images))
        )
        halves = first_batch(pixels="f16", deviation=64.0).images
        whole = first_batch(pixels="f32", deviation=64.0).images
        difference = numpy.asarray(halves).astype("f4") - numpy.asarray(whole)
        self.assertLess(abs(difference).max(), 2**-9)

    @unittest.skipUnless(torch, "PyTorch is not installed")
    def test_pytorch(self):
        batch = first_batch()
        images, labels = torch.from_dlpack(batch.images), torch.from_dlpack(batch.labels)
        self.check(images.numpy(), labels.numpy(), batch)
        self.assertEqual(images.data_ptr(), torch.from_dlpack(batch.images).data_ptr())
        self.assertEqual(labels.dtype, torch.int64)
        self.assertEqual(torch.from_dlpack(first_batch(pixels="f16").images).dtype, torch.float16)

    @unittest.skipUnless(jax, "JAX is not installed")
    def test_jax(self):
        batch = first_batch()
        images = jax.dlpack.from_dlpack(batch.images)
        self.assertEqual(images.shape, (8, 224, 224, 3))
        self.assertEqual(numpy.asarray(images).tobytes(), batch.images.tobytes())
        again = jax.dlpack.from_dlpack(batch.images)
        self.assertEqual(images.unsafe_buffer_pointer(), again.unsafe_buffer_pointer())

    @unittest.skipUnless(jax, "JAX is not installed")
    def test_jax_takes_an_array_wherever_it_takes_one_of_numpys(self):
        batch = first_batch()
        wanted = numpy.asarray(batch.images)
        ways = jax.numpy.asarray, jax.numpy.array, jax.device_put, jax.jit(lambda one: one), lambda one: jax.numpy.add(one, 0)
        for way in ways:
            self.assertEqual((way(batch.images).dtype, way(batch.images).tolist()), (wanted.dtype, wanted.tolist()))
        self.assertEqual(jax.jit(lambda both: both["labels"] + 1)({"labels": batch.labels}).tolist(), [one + 1 for one in batch.labels])

    @unittest.skipUnless(numpy, "NumPy is not installed")
    def test_dtype_is_numpys(self):
        for options, kind in ({}, "u1"), ({"pixels": "f32"}, "f4"), ({"pixels": "f16"}, "f2"):
            images = first_batch(**options).images
            self.assertIsInstance(images.dtype, numpy.dtype)
            self.assertEqual((images.dtype, numpy.result_type(images)), (numpy.dtype(kind), numpy.dtype(kind)))
        self.assertEqual(numpy.zeros_like(first_batch().labels).dtype, numpy.int64)

    def test_dtype_is_a_name_without_numpy(self):
        code = "import sys; sys.modules['numpy'] = None; import feedrate; print(next(iter(feedrate.Loader(sys.argv[1]))).images.dtype)"
        self.assertEqual(python(code, mnist()).stdout.strip(), "uint8")

    @unittest.skipUnless(tensorflow, "TensorFlow is not installed")
    def test_tensorflow(self):
        batch = first_batch()
        from_dlpack = tensorflow.experimental.dlpack.from_dlpack
        images, labels = (from_dlpack(one.__dlpack__()) for one in (batch.images, batch.labels))
        self.check(images.numpy(), labels.numpy(), batch)


@unittest.skipUnless(torch, "PyTorch is not installed")
class InteropDataLoader(unittest.TestCase):
    def loader(self, **options):
        from feedrate.torch import DataLoader

        return DataLoader(mnist(), "mnist", **{"batch_size": 64, "threads": 2, "seed": 1, **options})

    def values(self, batches):
        return [(images.contiguous().numpy().tobytes(), labels.tolist()) for images, labels in batches]

    def epochs(self, count, **options):
        loader = self.loader(**options)
        return [self.values(loader) for _ in range(count)]

    def test_labels_of_mixed_images_are_shares(self):
        recipe = feedrate.recipe("none") | feedrate.mixup()
        from feedrate.torch import DataLoader

        for (images, shares), batch in zip(
            DataLoader(mnist(), recipe, batch_size=64, seed=1), feedrate.Loader(mnist(), recipe, batch=64)
        ):
            labels = torch.from_dlpack(batch.labels)
            own = torch.nn.functional.one_hot(labels, 10)
            expected = batch.lam * own + (1 - batch.lam) * own[batch.partner]
            self.assertEqual((shares.dtype, shares.shape), (torch.float32, (len(labels), 10)))
            torch.testing.assert_close(shares, expected.float())

    def test_an_iteration_is_an_epoch(self):
        loader = self.loader()
        self.assertEqual((len(loader), len(loader.dataset), loader.batch_size), (10, IMAGES, 64))
        expected = [
            (batch.images.tobytes(), torch.from_dlpack(batch.labels).tolist())
            for batch in feedrate.Loader(mnist(), "mnist", batch=64, epochs=3)
        ]
        found = [self.values(loader) for _ in range(3)]
        self.assertEqual([len(epoch) for epoch in found], [10, 10, 10])
        self.assertEqual(sum(found, []), expected)

    def test_images_are_channels_last_without_a_copy(self):
        from feedrate.torch import DataLoader

        loader = DataLoader(photographs(), "imagenet-train", batch_size=8)
        images, labels = next(iter(loader))
        self.assertEqual((images.shape, images.dtype), ((8, 3, 224, 224), torch.uint8))
        self.assertTrue(images.is_contiguous(memory_format=torch.channels_last))
        images, _ = next(iter(self.loader(pixels="f32", mean=127.5, deviation=127.5)))
        self.assertEqual((images.shape, images.dtype), ((64, 1, 28, 28), torch.float32))
        self.assertTrue(images.is_contiguous())
        self.assertEqual(labels.dtype, torch.int64)

    def test_layouts_are_what_torch_makes_of_pixels(self):
        from feedrate.torch import DataLoader

        def images(**options):
            return next(iter(DataLoader(photographs(), "imagenet-eval", batch_size=8, **options)))[0]

        mean, deviation = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]
        pixels = images()
        # torchvision's normalize, which divides.
        numbers = pixels.float().sub(torch.tensor(mean).view(3, 1, 1)).div(torch.tensor(deviation).view(3, 1, 1))
        for layout, memory in ("nchw", torch.contiguous_format), ("nhwc", torch.channels_last):
            u8 = images(layout=layout)
            f32, f16 = (images(layout=layout, pixels=kind, mean=mean, deviation=deviation) for kind in ("f32", "f16"))
            for found, expected in (u8, pixels), (f32, numbers), (f16, numbers.half()):
                self.assertTrue(torch.equal(found, expected), layout)
                self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
                self.assertTrue(found.is_contiguous(memory_format=memory), layout)

    def test_kept_tensors_stay_as_they_are(self):
        loader = self.loader(batch_size=10)
        kept = [list(loader) for _ in range(2)]
        del loader
        self.assertEqual([self.values(epoch) for epoch in kept], self.epochs(2, batch_size=10))

    def test_after_a_break_the_next_epoch_starts_at_its_beginning(self):
        epochs = self.epochs(2)
        loader = self.loader()
        for _ in loader:
            break
        self.assertEqual(self.values(loader), epochs[1])

    def test_set_epoch_chooses_the_order(self):
        epochs = self.epochs(3)
        loader = self.loader()
        for epoch in 2, 0, 1, 1:
            loader.set_epoch(epoch)
            self.assertEqual(self.values(loader), epochs[epoch])

    def test_an_interpreter_ends_quietly_while_tensors_live(self):
        code = """
import sys, feedrate
loader = feedrate.torch.DataLoader(sys.argv[1], "mnist", threads=2)
for images, labels in loader: pass
kept = [batch for batch in loader]
sys.kept = kept[0]
"""
        self.assertEqual(python(code, mnist()).stderr, "")

    def test_a_state_resumes_in_the_middle_of_an_epoch(self):
        epochs = self.epochs(2)
        loader = self.loader()
        list(loader)
        for step, _ in enumerate(loader):
            if step == 3:
                break
        state = loader.state_dict()
        self.assertEqual(state, {"seed": 1, "epoch": 1, "position": 256})
        again = self.loader(threads=0)
        again.load_state_dict(state)
        again.set_epoch(1)  # as Trainers do before each epoch
        self.assertEqual(self.values(again), epochs[1][4:])
        self.assertEqual(again.state_dict(), {"seed": 1, "epoch": 2, "position": 0})

    def test_ctrl_c_loses_no_batch_and_repeats_none(self):
        for options in {}, {"transform": lambda images, labels, indices: indices}:
            def make():
                return self.loader(batch_size=5, indices=True, **options)

            def indices(batch):
                return (batch if options else batch[2]).tolist()

            seen = [indices(batch) for batch in interrupted_run(make, INTERRUPTS)]
            self.assertGreater(len(seen), INTERRUPTS)
            loader, expected = make(), []
            while len(expected) < len(seen):
                expected += [indices(batch) for batch in loader]
            self.assertTrue(seen == expected[: len(seen)])

    def test_an_interrupted_iteration_does_not_move_the_next_one(self):
        loader = self.loader(transform=lambda images, labels: 1 / 0)
        with self.assertRaises(ZeroDivisionError):
            list(loader)
        self.assertEqual(loader.state_dict(), {"seed": 1, "epoch": 0, "position": 0})
        loader._transform = None
        self.assertEqual(self.values(loader), self.epochs(1)[0], "nothing of the epoch had been handed out")

    def test_each_epoch_is_iterated_over_once_wherever_a_run_is_resumed(self):
        """With other ranks and images a batch too: what is left may be no whole batch."""
        for batch_size, ranks in (64, 1), (48, 2), (7, 3), (600, 1):
            for position in 0, 7, 300, 512, 576, 594, 599:
                loader = self.loader(batch_size=batch_size, drop_last=True, rank=0, ranks=ranks, indices=True)
                loader.load_state_dict({"seed": 1, "epoch": 2, "position": position})
                loader.set_epoch(2)
                epochs, counts = [], []
                for _ in range(3):
                    epochs.append(loader.state_dict()["epoch"])
                    counts.append(len([batch for batch in loader]))
                left = (IMAGES - position) // (batch_size * ranks)
                self.assertEqual(epochs, [2, 3, 4], (batch_size, ranks, position))
                self.assertEqual(counts, [left, len(loader), len(loader)])

    def test_an_interrupted_run_counts_each_epoch_once(self):
        """What a training that is killed anywhere and resumed at another batch size goes through."""
        for first, second in (64, 96), (96, 64), (50, 256):
            whole = self.loader(batch_size=first, drop_last=True)
            for stop in range(1, 2 * len(whole) + 1):
                loader, trained = self.loader(batch_size=first, drop_last=True), []
                taken = 0
                while taken < stop:
                    trained.append(loader.state_dict()["epoch"])
                    for _ in loader:
                        taken += 1
                        if taken == stop:
                            break
                state = loader.state_dict()
                if state["position"] != 0:
                    trained.pop()  # its rest comes
                again = self.loader(batch_size=second, drop_last=True)
                again.load_state_dict(state)
                while (epoch := again.state_dict()["epoch"]) < 4:
                    again.set_epoch(epoch)
                    trained.append(epoch)
                    list(again)
                self.assertEqual(trained, [0, 1, 2, 3], (first, second, stop))

    def test_who_would_skip_batches_by_a_sampler_is_told_of_states(self):
        loader = self.loader()
        self.assertFalse(hasattr(loader, "sampler"))
        with self.assertRaisesRegex(AttributeError, "load_state_dict .* ignore_data_skip=True"):
            loader.sampler

    def test_what_transform_returns_is_yielded(self):
        loader = self.loader(transform=lambda images, labels: {"pixel_values": images, "labels": labels})
        self.assertEqual({len(batch["labels"]) for batch in loader}, {64, 24})

    def test_ranks_are_torch_distributeds_also_if_it_is_set_up_later(self):
        code = """
import sys, torch
from feedrate.torch import DataLoader
path, store, rank = sys.argv[1:]
loader = DataLoader(path, batch_size=100, threads=2)
torch.distributed.init_process_group("gloo", "file://" + store, rank=int(rank), world_size=2)
assert len(loader) == 3
for images, labels in loader: print(labels.tolist())
torch.distributed.destroy_process_group()
"""
        with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor() as both:
            store = os.path.join(directory, "store")
            runs = [both.submit(python, code, mnist(), store, str(rank)) for rank in range(2)]
        for rank, run in enumerate(runs):
            share = feedrate.Loader(mnist(), batch=100, rank=rank, ranks=2)
            labels = [array.array("q", batch.labels.tobytes()).tolist() for batch in share]
            self.assertEqual(run.result().stdout, "".join(f"{one}\n" for one in labels), run.result().stderr)
        self.assertEqual(len(self.loader(batch_size=100, rank=1, ranks=3)), 2)

    def test_ranks_have_equally_many_batches_or_an_error_names_last(self):
        with self.assertRaisesRegex(ValueError, "129 images .* leave 1, .* pad, drop or wrap"):
            self.loader(order=range(129), rank=0, ranks=2)
        for last, batches in ("drop", 1), ("wrap", 2):
            for rank in range(2):
                loader = self.loader(order=range(129), rank=rank, ranks=2, last=last)
                self.assertEqual((len(loader), len(list(loader)), len(list(loader))), (batches,) * 3)
        with unittest.mock.patch("feedrate.torch._share", return_value=(0, 1)) as share:
            loader = self.loader(order=range(129))
            share.return_value = (0, 2)
            for asked in len, iter, list:
                with self.assertRaisesRegex(ValueError, "pad, drop or wrap"):
                    asked(loader) if asked is not iter else next(iter(loader))

    def test_the_dataset_is_whole_whatever_an_epoch_holds(self):
        for options, batches in ({"order": range(200)}, 4), ({"weights": "balanced", "draws": 700}, 11):
            loader = self.loader(**options)
            self.assertEqual((len(loader.dataset), len(loader)), (IMAGES, batches))

    def test_a_world_that_changes_ends_the_iteration_under_way(self):
        with unittest.mock.patch("feedrate.torch._share", return_value=(0, 1)) as share:
            loader = self.loader(batch_size=100)
            list(loader)  # threads prepare the next epoch
            share.return_value = (1, 2)
            self.assertEqual(sum(len(labels) for _, labels in loader), IMAGES // 2)
            iterator = iter(loader)
            next(iterator)
            share.return_value = (0, 3)
            self.assertEqual(len(loader), 2)
            with self.assertRaisesRegex(RuntimeError, "rank 1 of 2 began .* rank 0 of 3 by now"):
                next(iterator)
            self.assertEqual(sum(len(labels) for _, labels in loader), IMAGES // 3)
            self.assertEqual(loader.state_dict(), {"seed": 1, "epoch": 4, "position": 0})

    def test_a_pickle_is_the_loader_where_it_stands(self):
        loader = self.loader(order=range(200))
        for _ in loader:
            break
        again = pickle.loads(pickle.dumps(loader))
        self.assertEqual(again.state_dict(), loader.state_dict())
        self.assertEqual(self.values(again), self.values(loader))
        with unittest.mock.patch("feedrate.torch._share", return_value=(1, 2)):
            self.assertEqual(len(loader), 2)
            again = pickle.loads(pickle.dumps(loader))
            self.assertEqual(self.values(again), self.values(loader))

    def test_memory_is_not_pinned_without_a_gpu(self):
        with unittest.mock.patch("torch.cuda.is_available", return_value=False):
            with self.assertWarnsRegex(UserWarning, "no GPU"):
                loader = self.loader(pin_memory=True)
            self.assertEqual(sum(len(labels) for _, labels in loader), IMAGES)

    def test_options_of_whole_runs_are_refused(self):
        for options in {"epochs": 2}, {"batch": 3}, {"rank": 0}, {"last": "wrap", "drop_last": True}:
            with self.assertRaises(ValueError):
                self.loader(**options)
        with self.assertRaisesRegex(ValueError, "batch_size: expected a whole number from 1 to 65536, found 0"):
            self.loader(batch_size=0)


if __name__ == "__main__":
    unittest.main()
