"""Batches of `feedrate.torch.DataLoader` on their way to a GPU, which is emulated: what is still being
copied, what comes when something fails, and on which stream."""

import contextlib
import os
import unittest
import unittest.mock

import feedrate
from support import photographs
from torch_decode_test import EMULATED, Stream, damaged, emulated_gpu, packed

try:
    import torch
except ImportError:
    torch = None

RECIPE = "imagenet-eval:size=24"


class LateStream(Stream):
    """A stream of which nothing is done before somebody waits for it."""

    given, done = 0, 0  # copies

    def record_event(self):
        event = LateStream()
        event.place = LateStream.given
        return event

    def synchronize(self):
        LateStream.done = max(LateStream.done, getattr(self, "place", LateStream.given))


@contextlib.contextmanager
def late_copies():
    """A GPU to which copies are made late. `LateStream.given` counts them."""
    LateStream.given = LateStream.done = 0
    with emulated_gpu() as device:
        to = torch.Tensor.to

        def moved(tensor, device, **options):
            LateStream.given += 1
            return to(tensor, device, **options).clone()

        with unittest.mock.patch("torch.cuda.Stream", LateStream), unittest.mock.patch("torch.Tensor.to", moved):
            yield device


def ways():
    """To decode, for a GPU."""
    return ("full", "device") if os.path.exists(EMULATED) else ("full",)


@unittest.skipUnless(torch, "PyTorch is not installed")
class InteropCopies(unittest.TestCase):
    def loader(self, dataset, **options):
        from feedrate.torch import DataLoader

        return DataLoader(dataset, RECIPE, **{"batch_size": 2, "threads": 2, "pin_memory": False, "seed": 1, **options})

    def until_it_fails(self, **options):
        loader, found = self.loader(damaged(), **options), []
        with self.assertRaises(feedrate.DataError) as raised:
            for images, labels in loader:
                found.append((images.numpy().tobytes(), labels.tolist(), loader.state_dict()["position"]))
        self.assertEqual(raised.exception.sample, 7)
        return found, loader.state_dict()

    def test_what_comes_before_a_bad_sample_is_handed_out(self):
        expected = self.until_it_fails()
        self.assertEqual((len(expected[0]), expected[1]["position"]), (3, 6))
        for decode in ways():
            with self.subTest(decode), emulated_gpu() as device:
                self.assertEqual(self.until_it_fails(device=device, decode=decode), expected)

    def test_memory_is_given_back_when_it_is_copied(self):
        with late_copies() as device:
            loader = self.loader(photographs(), batch_size=8, device=device)
            images, _ = next(iter(loader))  # the iterator is gone
            self.assertEqual((LateStream.given, LateStream.done), (6, 6))  # two batches: one is copied ahead
            batches = iter(loader)
            next(batches)
            self.assertLess(LateStream.done, LateStream.given)
            with unittest.mock.patch("torch.Tensor.to", side_effect=[images, RuntimeError("no memory")]):
                with self.assertRaisesRegex(RuntimeError, "^no memory$"):
                    next(batches)
            self.assertEqual(LateStream.done, LateStream.given)

    def test_a_loader_has_one_stream(self):
        for decode in ways():
            with self.subTest(decode), emulated_gpu() as device:
                with unittest.mock.patch("torch.cuda.Stream", side_effect=Stream) as made:
                    loader = self.loader(packed(), device=device, decode=decode)
                    for _ in range(3):
                        next(iter(loader))
                        list(loader)
                self.assertEqual(made.call_count, 1)


if __name__ == "__main__":
    unittest.main()
