"""Several Python threads at once, with and without a GIL: who gets which batch, and what ends whom."""

import hashlib
import signal
import sysconfig
import threading
import time
import unittest

import feedrate
from support import IMAGES, content, mnist, patience, photographs, python

THREADS = 6


def at_once(work, count=THREADS):
    """What work(0) … work(count - 1) return, each called by a thread of its own at the same time."""
    together = threading.Barrier(count)
    results = [None] * count

    def call(place):
        try:
            together.wait(patience)
            results[place] = work(place)
        except BaseException as error:
            results[place] = error

    threads = [threading.Thread(target=call, args=(place,)) for place in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def digest(batch):
    return hashlib.sha1(b"".join(content(batch))).hexdigest()


def pixels(sample):
    return hashlib.sha1(sample.image.tobytes()).hexdigest(), sample.label, sample.name


class UnitThreads(unittest.TestCase):
    def test_threads_that_share_an_iterator_get_each_batch_once(self):
        options = {"batch": 7, "epochs": 4}
        expected = [digest(batch) for batch in feedrate.Loader(mnist(), "mnist", **options)]
        for threads in 0, 1, 3:
            loader = feedrate.Loader(mnist(), "mnist", threads=threads, **options)
            batches = iter(loader)
            shares = at_once(lambda _: [(batch.number, digest(batch)) for batch in batches])
            found = dict(sum(shares, []))
            self.assertEqual(sum(map(len, shares)), len(expected), "none came twice")
            self.assertEqual([found[number] for number in range(len(expected))], expected)
            for share in shares:
                numbers = [number for number, _ in share]
                self.assertEqual(numbers, sorted(numbers), "each thread gets its batches in order")
            self.assertEqual(loader.state_dict(), {"seed": 1, "epoch": 4, "position": 0})

    def test_a_state_taken_meanwhile_parts_the_batches(self):
        loader = feedrate.Loader(mnist(), batch=10, threads=2, epochs=5)
        expected = [digest(batch) for batch in feedrate.Loader(mnist(), batch=10, epochs=5)]
        batches = iter(loader)
        states, done = [], threading.Event()

        def work(place):
            if place > 0:
                try:
                    return sum(1 for _ in batches)
                finally:
                    done.set()
            while not done.is_set():
                states.append(loader.state_dict())
                images = loader.stats().get("images", 5 * IMAGES)
                self.assertGreaterEqual(images, IMAGES * states[-1]["epoch"] + states[-1]["position"])
            return 0

        self.assertEqual(sum(at_once(work)), len(expected))
        places = [(state["epoch"], state["position"]) for state in states]
        self.assertEqual(places, sorted(places))
        for state in states[:: len(states) // 5 + 1]:
            again = feedrate.Loader(mnist(), batch=10, threads=2, epochs=5)
            again.load_state_dict(state)
            taken = 60 * state["epoch"] + state["position"] // 10
            self.assertEqual([digest(batch) for batch in again], expected[taken:])

    def test_iterations_that_end_each_other_lose_and_repeat_nothing(self):
        expected = [digest(batch) for batch in feedrate.Loader(mnist(), batch=10, epochs=20)]
        loader = feedrate.Loader(mnist(), batch=10, threads=2, epochs=20)

        def work(_):
            taken = []
            for _ in range(12):
                try:
                    for batch in loader:
                        taken.append(digest(batch))
                        if len(taken) % 3 == 0:
                            break
                except RuntimeError as error:
                    self.assertIn("newer iteration", str(error))
            return taken

        taken = sum(at_once(work), [])
        self.assertEqual(sorted(taken + [digest(batch) for batch in loader]), sorted(expected))

    def test_threads_index_one_dataset(self):
        for path in mnist(), mnist("recordio"), photographs():
            dataset = feedrate.open(path)
            expected = [pixels(sample) for sample in dataset]

            def work(place):
                order = range(place, place + len(dataset))
                found = [(at % len(dataset), pixels(dataset[at % len(dataset)])) for at in order]
                return [sample for _, sample in sorted(found, key=lambda one: one[0])]

            self.assertTrue(all(found == expected for found in at_once(work, 4)), path)

    def test_threads_make_loaders_of_their_own(self):
        dataset = feedrate.open(mnist())

        def loaded(place):
            recipe = feedrate.random_crop(20 + place % 3) | feedrate.flip()
            weights = [1.0 + index % (2 + place) for index in range(IMAGES)]
            loader = feedrate.Loader(dataset, recipe, batch=40, threads=place % 3, weights=weights)
            return [digest(batch) for batch in loader]

        expected = [loaded(place) for place in range(THREADS)]
        self.assertEqual(at_once(loaded), expected)

    def test_the_time_of_functions_on_batches_is_that_of_all_threads(self):
        loader = feedrate.Loader(mnist(), batch=10, threads=2, transform=lambda _: time.sleep(0.01))
        batches = iter(loader)

        def work(_):
            for _ in range(5):
                next(batches)
            return loader.stats()

        seconds = max(stats["transform_seconds"] for stats in at_once(work, 4))
        self.assertGreaterEqual(seconds, 0.19)

    def test_an_exception_ends_the_iteration_for_all(self):
        def transform(batch):
            if batch.number == 20:
                raise ZeroDivisionError
            return batch.number

        loader = feedrate.Loader(mnist(), batch=10, threads=2, epochs=None, transform=transform)
        batches = iter(loader)
        failed = []

        def work(_):
            taken = []
            try:
                taken.extend(batches)
            except ZeroDivisionError:
                failed.append(True)
            return taken

        at_once(work)
        self.assertEqual(failed, [True])
        self.assertEqual(loader.stats(), {}, "its threads have ended")

    def test_arrays_are_used_by_many_threads(self):
        batch = next(iter(feedrate.Loader(mnist(), batch=IMAGES)))
        expected = digest(batch)

        def work(_):
            for _ in range(200):
                memoryview(batch.images._native).release()
                batch.images.__dlpack__()
            return digest(batch)

        self.assertEqual(at_once(work), [expected] * THREADS)

    @unittest.skipUnless(sysconfig.get_config_var("Py_GIL_DISABLED"), "this Python has a GIL")
    def test_importing_the_package_leaves_the_gil_off(self):
        code = "import sys, feedrate; list(feedrate.Loader(sys.argv[1])); print(sys._is_gil_enabled())"
        done = python(code, mnist())
        self.assertEqual((done.stdout, done.stderr), ("False\n", ""))

    def test_an_interpreter_ends_with_daemon_threads_at_work(self):
        code = """
import sys, threading, time, feedrate
dataset = feedrate.open(sys.argv[1])
batches = iter(feedrate.Loader(dataset, batch=5, threads=2, epochs=None))

def index():
    while True:
        dataset[1]

def draw():
    for batch in batches:
        pass

for work in index, index, draw, draw, draw:
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
"""
        for _ in range(5):
            done = python(code, mnist())
            self.assertEqual((done.returncode, done.stderr), (0, ""))


class UnitEnds(unittest.TestCase):
    """close() while somebody waits for a batch that takes long."""

    def first_batch(self, ended_by):
        """Seconds until next() returned or raised, where ended_by(loader) was called meanwhile."""
        loader = feedrate.Loader(photographs(), "imagenet-train", batch=640, threads=1, last="wrap")
        batches = iter(loader)
        ended_by(loader)
        start = time.monotonic()
        try:
            next(batches)
        finally:
            self.took.append(time.monotonic() - start)

    def setUp(self):
        self.took = []
        self.first_batch(lambda loader: None)
        self.soon = self.took[0] / 10

    def test_another_thread_closes_a_loader(self):
        def close_soon(loader):
            timer = threading.Timer(self.soon, loader.close)
            timer.start()
            self.addCleanup(timer.join)

        with self.assertRaisesRegex(RuntimeError, "ended by close"):
            self.first_batch(close_soon)
        self.assertLess(self.took[1], self.took[0] / 2)

    def test_a_signals_handler_closes_a_loader(self):
        states = []

        def close_soon(loader):
            def close(*_):
                states.append((loader.state_dict(), loader.stats()["images"]))
                loader.close()

            old = signal.signal(signal.SIGALRM, close)
            self.addCleanup(signal.signal, signal.SIGALRM, old)
            signal.setitimer(signal.ITIMER_REAL, self.soon)

        with self.assertRaisesRegex(RuntimeError, "ended by close"):
            self.first_batch(close_soon)
        self.assertEqual(states, [({"seed": 1, "epoch": 0, "position": 0}, 0)])
        self.assertLess(self.took[1], self.took[0] / 2)

    def test_ctrl_c_reaches_the_main_thread_behind_another(self):
        old = signal.signal(signal.SIGALRM, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGALRM, old)
        loader = feedrate.Loader(photographs(), "imagenet-train", batch=640, threads=1, last="wrap")
        batches = iter(loader)
        other = threading.Thread(target=next, args=(batches,))
        other.start()
        time.sleep(self.soon)  # until it waits
        signal.setitimer(signal.ITIMER_REAL, self.soon)
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            next(batches)
        self.assertLess(time.monotonic() - start, self.took[0] / 2)
        other.join()


if __name__ == "__main__":
    unittest.main()
