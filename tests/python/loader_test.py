"""The same batches as in the shell, at any number of threads, ranks and images a batch."""

import array
import hashlib
import itertools
import json
import pickle
import time
import unittest

import feedrate
from support import IMAGES, content, loaded, mnist, photographs, place, shell


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

    def test_composed_recipes_are_the_shells(self):
        recipe = (
            feedrate.random_resized_crop(64, ratio=(1, 1))
            | feedrate.flip(0.25)
            | feedrate.rgb()
            | feedrate.color_jitter(0.4, 0.4, 0.4, 0.1)
            | feedrate.rand_augment(magnitude=5)
            | feedrate.random_erasing(value=124)
            | feedrate.mixup(0.2)
            | feedrate.cutmix()
        )
        self.assertIsInstance(recipe, feedrate.Recipe)
        expected = loaded(photographs(), "--recipe", recipe, "--batch", "24")["digest"]
        for threads in 0, 4:
            loader = feedrate.Loader(photographs(), recipe, batch=24, threads=threads)
            self.assertEqual(digest(loader), expected)
        self.assertEqual(
            "imagenet-train" | feedrate.flip(), feedrate.recipe("imagenet-train") | "flip:share=0.5"
        )
        self.assertEqual(feedrate.random_crop(24, pad=2), "random-crop:size=24:pad=2")
        self.assertEqual(
            feedrate.resize(72) | feedrate.center_crop(64) | feedrate.grey(),
            "resize:size=72+center-crop:size=64+grey",
        )

    def test_mixed_batches_say_with_what(self):
        plain = feedrate.Loader(mnist(), feedrate.recipe("none"), batch=30)
        mixing = feedrate.Loader(mnist(), feedrate.recipe("none") | feedrate.mixup(), batch=30)
        for before, after in zip(plain, mixing):
            self.assertEqual((before.lam, before.partner), (1.0, list(range(30))))
            self.assertTrue(0 <= after.lam < 1)
            self.assertEqual(after.partner, [29, *range(29)])
            own, other = (before.images.tobytes()[seat * 784 + 400] for seat in (7, 6))
            mixed = after.images.tobytes()[7 * 784 + 400]
            self.assertLessEqual(abs(mixed - own * after.lam - other * (1 - after.lam)), 0.501)
            self.assertEqual(before.labels.tobytes(), after.labels.tobytes())

    def test_a_state_may_have_a_seed_of_draws(self):
        """Which changes what is drawn for each sample, and not the order."""
        def seen(**state):
            loader = feedrate.Loader(photographs(), "imagenet-train:size=32", batch=16, seed=3)
            loader.load_state_dict({"seed": 3, "epoch": 0, "position": 0, **state})
            found = [(list(batch.indices), batch.images.tobytes()) for batch in loader]
            return found, loader.state_dict()

        usual, state = seen()
        self.assertEqual(state, {"seed": 3, "epoch": 1, "position": 0})
        other, state = seen(draws=4)
        self.assertEqual(state, {"seed": 3, "epoch": 1, "position": 0, "draws": 4})
        self.assertEqual([batch[0] for batch in other], [batch[0] for batch in usual])
        self.assertFalse({batch[1] for batch in other} & {batch[1] for batch in usual})
        self.assertEqual(seen(draws=4, position=16)[0], other[1:])
        self.assertEqual(seen(draws=3)[0], usual)
        with self.assertRaisesRegex(TypeError, "state: draws: expected a whole number of at least 0 or None, found 'x'"):
            seen(draws="x")

    def test_a_function_on_batches_is_measured(self):
        def slow(batch):
            time.sleep(0.01)
            return len(batch)

        loader = feedrate.Loader(mnist(), batch=100, transform=slow)
        results = []
        for result in loader:
            results.append(result)
            seconds = loader.stats()["transform_seconds"]
        self.assertEqual(results, [100] * 6)
        self.assertGreaterEqual(seconds, 0.06)
        broken = feedrate.Loader(mnist(), transform=lambda batch: batch.nothing)
        with self.assertRaises(AttributeError):
            next(iter(broken))

    def test_numbers_are_the_shells(self):
        words = ["--batch", "50", "--mean", "33.3", "--deviation", "78.6"]
        for pixels, size in ("f32", 4), ("f16", 2):
            expected = loaded(mnist(), "--pixels", pixels, *words)["digest"]
            options = {"pixels": pixels, "batch": 50, "mean": 33.3, "deviation": 78.6}
            self.assertEqual(digest(feedrate.Loader(mnist(), **options)), expected)
            batch = next(iter(feedrate.Loader(mnist(), **options)))
            self.assertEqual(batch.images.shape, (50, 1, 28, 28))
            self.assertEqual(len(batch.images.tobytes()), 50 * 28 * 28 * size)

    def test_layouts_are_the_shells(self):
        sides = {"nhwc": (224, 224, 3), "nchw": (3, 224, 224)}
        options = {"recipe": "imagenet-train", "batch": 20}
        for layout, shape in sides.items():
            for pixels in "u8", "f16":
                words = ["--recipe", "imagenet-train", "--batch", "20", "--layout", layout, "--pixels", pixels]
                found = loaded(photographs(), *words)
                self.assertEqual(found["layout"], layout)
                loader = feedrate.Loader(photographs(), layout=layout, pixels=pixels, **options)
                self.assertEqual(next(iter(loader)).images.shape, (20,) + shape)
                loader = feedrate.Loader(photographs(), layout=layout, pixels=pixels, **options)
                self.assertEqual(digest(loader), found["digest"])

    def test_images_decoded_scaled_are_the_shells(self):
        recipe = "imagenet-train:size=64"
        words = ["--recipe", recipe, "--batch", "24"]
        shell = loaded(photographs(), *words, "--decode", "scaled")
        self.assertNotEqual(shell["digest"], loaded(photographs(), *words)["digest"])
        self.assertGreater(shell["shrunk_images"], 0)
        loader = feedrate.Loader(photographs(), recipe, batch=24, threads=2, decode="scaled")
        iterator = iter(loader)
        first = next(iterator)
        self.assertGreater(loader.stats()["shrunk_images"], 0)
        self.assertEqual(digest(itertools.chain([first], iterator)), shell["digest"])

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

    def test_order_and_weights_are_the_shells(self):
        order = [5, 5, 599, 0, 17, 300] * 7
        with open(place("order"), "w") as file:
            file.writelines(f"{index}\n" for index in order)
        weights = [index % 5 for index in range(IMAGES)]
        with open(place("weights"), "w") as file:
            file.writelines(f"{weight}\n" for weight in weights)
        for option, value, text in (
            ("order", order, place("order")),
            ("weights", weights, place("weights")),
            ("weights", "balanced", "balanced"),
            ("groups", (4, 2), "4x2"),
        ):
            expected = loaded(mnist(), "--batch", "16", "--threads", "1", "--" + option, text)["digest"]
            for threads in 0, 4:
                loader = feedrate.Loader(mnist(), batch=16, threads=threads, **{option: value})
                self.assertEqual(digest(loader), expected, f"{option}, {threads} threads")

    def test_an_epoch_holds_what_order_and_weights_say(self):
        def indices(**options):
            loader = feedrate.Loader(mnist(), batch=16, **options)
            return [i for batch in loader for i in array.array("q", batch.indices.tobytes())]

        self.assertEqual(indices(order=range(599, -1, -3)), list(range(599, -1, -3)))
        self.assertEqual(sorted(indices(order=[1, 2, 2, 9], shuffle=True)), [1, 2, 2, 9])
        drawn = indices(weights=[index < 100 for index in range(IMAGES)], epochs=2)
        self.assertEqual(len(drawn), 2 * IMAGES)
        self.assertLess(max(drawn), 100)
        self.assertNotEqual(drawn[:IMAGES], drawn[IMAGES:], "another epoch draws others")
        loader = feedrate.Loader(mnist(), batch=16, order=range(40))
        self.assertEqual(loader.batches_per_epoch, 3)
        with self.assertRaisesRegex(ValueError, "41 is beyond the 40 images"):
            loader.load_state_dict({"seed": 1, "epoch": 0, "position": 41})

    def test_a_mix_is_the_shells_and_a_dataset(self):
        parts = {mnist(): 0.75, mnist("recordio"): 0.25}
        both = feedrate.mix(parts)
        self.assertEqual((len(both), both[IMAGES + 3].label), (2 * IMAGES, feedrate.open(mnist())[3].label))
        text = ",".join(f"{path}:{weight}" for path, weight in parts.items())
        words = ["load", "--mix", text, "--draws", "400", "--batch", "32", "--json"]
        expected = json.loads(shell(*words))["digest"]
        for dataset in both, pickle.loads(pickle.dumps(both)):
            self.assertEqual(digest(feedrate.Loader(dataset, batch=32, draws=400)), expected)
        indices = [
            index
            for batch in feedrate.Loader(both, batch=32, draws=400)
            for index in array.array("q", batch.indices.tobytes())
        ]
        self.assertEqual(sum(index < IMAGES for index in indices), 300)
        self.assertEqual(len(set(indices)), 400)
        twice = feedrate.mix({feedrate.open(mnist()): 1, feedrate.open(mnist()): 2})
        self.assertEqual(len(pickle.loads(pickle.dumps(twice))), 2 * IMAGES)
        with self.assertRaisesRegex(ValueError, "weight of dataset 1"):
            feedrate.mix({mnist(): 1, mnist("recordio"): -1})
        with self.assertRaisesRegex(ValueError, "a mix cannot be a part of one"):
            feedrate.mix({both: 1, mnist(): 1})

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

    def test_recipes_that_only_evaluate_keep_the_order(self):
        for recipe, ordered in (
            ("imagenet-eval", True),
            ("imagenet-eval:size=64", True),
            (feedrate.resize(72) | feedrate.center_crop(64), True),
            ("imagenet-train", False),
            (feedrate.resize(72) | feedrate.random_crop(64), False),
            ("imagenet-eval+flip", False),
        ):
            for options, expected in ({}, ordered), ({"shuffle": True}, False), ({"shuffle": False}, True):
                loader = feedrate.Loader(photographs(), recipe, batch=64, **options)
                indices = array.array("q", next(iter(loader)).indices.tobytes()).tolist()
                self.assertEqual(indices == list(range(64)), expected, (recipe, options))
        for recipe in "none", "mnist":
            indices = array.array("q", next(iter(feedrate.Loader(mnist(), recipe))).indices.tobytes())
            self.assertNotEqual(indices.tolist(), list(range(64)))

    def test_a_pickle_is_the_loader_where_it_stands(self):
        for options in (
            {"batch": 64, "seed": 3, "epochs": 2, "transform": len},
            {"order": iter([5, 4, 3, 2, 1]), "batch": 2, "transform": content},
            {"weights": "balanced", "draws": 100, "recipe": "mnist", "transform": content},
        ):
            loader = feedrate.Loader(mnist(), **options)
            next(iter(loader))
            again = pickle.loads(pickle.dumps(loader))
            self.assertEqual(again.state_dict(), loader.state_dict())
            self.assertEqual(list(again), list(loader))

    def test_a_pickle_holds_the_settings_as_they_were_given(self):
        order = [5, 4, 3, 2, 1]
        loader = feedrate.Loader(mnist(), order=order, batch=2, transform=content)
        order.clear()
        self.assertEqual(list(pickle.loads(pickle.dumps(loader))), list(loader))

    def test_the_number_of_threads_can_be_found_while_it_runs(self):
        loader = feedrate.Loader(mnist(), "mnist", batch=64, threads="auto", epochs=3)
        self.assertEqual(sum(len(batch) for batch in loader), 3 * IMAGES)


if __name__ == "__main__":
    unittest.main()
