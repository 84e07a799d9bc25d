"""The same batches as in the shell, at any number of threads, ranks and images a batch."""

import array
import hashlib
import unittest

import feedrate
from support import IMAGES, content, loaded, mnist, photographs


def digest(loader):
    """As `feedrate load --json` computes it: labels as int32, then images, of every batch."""
    hasher = hashlib.sha256()
    for batch in loader:
        hasher.update(array.array("i", array.array("q", batch.labels.tobytes())).tobytes())
        hasher.update(batch.images.tobytes())
    return hasher.hexdigest()


class ConformanceLoader(unittest.TestCase):
    def test_digests_are_the_shells_at_any_number_of_threads(self):
        for path, recipe in (mnist(), "mnist"), (photographs(), "imagenet-train"):
            words = ["--recipe", recipe, "--batch", "24", "--seed", "7", "--threads", "1"]
            expected = loaded(path, *words)["digest"]
            for threads in 0, 1, 2, 4, 8:
                loader = feedrate.Loader(path, recipe, batch=24, seed=7, threads=threads)
                self.assertEqual(digest(loader), expected, f"{recipe}, {threads} threads")

    def test_recipes_take_parameters_as_in_the_shell(self):
        recipe = feedrate.recipe("imagenet-train", flip=0.25, size=64, scale=(0.5, 1), ratio=(1 / 3, 3.0))
        self.assertEqual(recipe.split(":")[:3], ["imagenet-train", "size=64", "scale=0.5-1"])
        words = ["--recipe", recipe, "--batch", "24", "--threads", "2"]
        loader = feedrate.Loader(photographs(), recipe, batch=24, threads=4)
        self.assertEqual(loader.image_shape, (64, 64, 3))
        self.assertEqual(digest(loader), loaded(photographs(), *words)["digest"])

    def test_numbers_are_the_shells(self):
        words = ["--batch", "50", "--mean", "33.3", "--deviation", "78.6"]
        for pixels, size in ("f32", 4), ("f16", 2):
            expected = loaded(mnist(), "--pixels", pixels, *words)["digest"]
            options = {"pixels": pixels, "batch": 50, "mean": 33.3, "deviation": 78.6}
            self.assertEqual(digest(feedrate.Loader(mnist(), **options)), expected)
            batch = next(iter(feedrate.Loader(mnist(), **options)))
            self.assertEqual(batch.images.shape, (50, 1, 28, 28))
            self.assertEqual(len(batch.images.tobytes()), 50 * 28 * 28 * size)

    def test_indices_lead_to_the_samples(self):
        dataset = feedrate.open(mnist())
        for batch in feedrate.Loader(dataset, batch=100, threads=2):
            indices = array.array("q", batch.indices.tobytes())
            labels = array.array("q", batch.labels.tobytes())
            images = batch.images.tobytes()
            for seat, index in enumerate(indices):
                sample = dataset[index]
                self.assertEqual(sample.label, labels[seat])
                self.assertEqual(sample.image.tobytes(), images[seat * 784 : seat * 784 + 784])

    def test_a_state_resumes_at_another_number_of_threads_and_images(self):
        whole = [content(batch) for batch in feedrate.Loader(mnist(), batch=20, epochs=3)]
        first = feedrate.Loader(mnist(), batch=60, epochs=3, threads=4)
        for number, _ in enumerate(first):
            if number == 13:  # in the middle of the second epoch
                break
        state = first.state_dict()
        self.assertEqual(state, {"seed": 1, "epoch": 1, "position": 240})
        second = feedrate.Loader(mnist(), batch=20, epochs=3, threads=1)
        second.load_state_dict(state)
        self.assertEqual([content(batch) for batch in second], whole[42:])
        self.assertEqual(second.state_dict(), {"seed": 1, "epoch": 3, "position": 0})
        self.assertEqual(list(second), [], "the run is over")

    def test_iterating_again_goes_on_behind_the_last_batch(self):
        expected = [content(batch) for batch in feedrate.Loader(mnist(), batch=100)]
        loader = feedrate.Loader(mnist(), batch=100, threads=2)
        found = []
        while len(found) < 6:
            for batch in loader:
                found.append(content(batch))
                break
        self.assertEqual(found, expected)

    def test_ranks_share_an_epoch_without_loss_or_repeat(self):
        seen = []
        for rank in range(3):
            loader = feedrate.Loader(mnist(), batch=32, rank=rank, ranks=3)
            batches = list(loader)
            self.assertEqual(len(batches), loader.batches_per_epoch)
            for batch in batches:
                seen += array.array("q", batch.indices.tobytes())
        self.assertEqual(sorted(seen), list(range(IMAGES)))

    def test_lengths_count_batches(self):
        loader = feedrate.Loader(mnist(), batch=64, epochs=5)
        self.assertEqual((loader.batches_per_epoch, len(loader)), (10, 50))
        self.assertEqual(feedrate.Loader(mnist(), batch=64, last="drop").batches_per_epoch, 9)
        with self.assertRaises(TypeError):
            len(feedrate.Loader(mnist(), epochs=None))

    def test_the_number_of_threads_can_be_found_while_it_runs(self):
        loader = feedrate.Loader(mnist(), "mnist", batch=64, threads="auto", epochs=3)
        self.assertEqual(sum(len(batch) for batch in loader), 3 * IMAGES)


if __name__ == "__main__":
    unittest.main()
