"""What scripts read of a DataLoader of PyTorch's, of `feedrate.torch.DataLoader`."""

import copy
import pickle
import unittest

from support import mnist

try:
    import torch
    from torch.utils import data
except ImportError:
    torch = None


@unittest.skipUnless(torch, "PyTorch is not installed")
class UnitTorchAttributes(unittest.TestCase):
    def loader(self, **options):
        from feedrate.torch import DataLoader

        return DataLoader(mnist(), "mnist", batch_size=100, **options)

    def test_all_of_pytorchs_are_there(self):
        theirs, ours = data.DataLoader([1, 2]), self.loader()
        none = {"sampler", "batch_sampler"}  # which a loader without them says
        for name in [one for one in vars(theirs) if not one.startswith("_")] + ["multiprocessing_context"]:
            self.assertEqual(hasattr(ours, name), name not in none, name)

    def test_they_are_true(self):
        generator = torch.Generator().manual_seed(5)
        loader = self.loader(num_workers=2, persistent_workers=False, drop_last=True, generator=generator)
        self.assertEqual((loader.num_workers, loader.persistent_workers, loader.drop_last), (2, False, True))
        self.assertIs(loader.generator, generator)
        self.assertIs(loader.collate_fn, data.default_collate)
        self.assertEqual((loader.batch_size, loader.timeout, loader.pin_memory), (100, 0, torch.cuda.is_available()))
        for other in copy.copy(loader), pickle.loads(pickle.dumps(loader)):
            self.assertEqual((other.num_workers, other.generator.initial_seed()), (2, 5))
        self.assertEqual(self.loader(threads=0).num_workers, 0)
        self.assertGreater(self.loader().num_workers, 0)

    def test_profilers_see_the_wait_for_a_batch(self):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            for _ in self.loader(threads=1):
                pass
        counts = {one.key: one.count for one in profile.key_averages()}
        self.assertEqual(sum(count for key, count in counts.items() if key.startswith("enumerate(DataLoader)#")), 7)


if __name__ == "__main__":
    unittest.main()
