"""Batches, threads and memory: who keeps what, for how long; interruptions, exits and forks."""

import array
import gc
import itertools
import os
import signal
import sys
import threading
import time
import unittest
import unittest.mock

import feedrate
from support import IMAGES, INTERRUPTS, content, interrupted_run, mnist, patience, photographs, python


def threads_now():
    return len(os.listdir("/proc/self/task"))


class UnitLifetimes(unittest.TestCase):
    def test_all_batches_can_be_kept_and_stay_as_they_are(self):
        expected = [content(batch) for batch in feedrate.Loader(mnist(), batch=10, threads=0)]
        for threads in 0, 1, 4:
            loader = feedrate.Loader(mnist(), batch=10, threads=threads)
            kept = list(loader)  # 60 batches, far more than slots
            self.assertEqual([content(batch) for batch in kept], expected)
            del loader
            gc.collect()
            self.assertEqual([content(batch) for batch in kept], expected, "after the loader's end")

    def test_an_array_outlives_its_batch_and_its_loader(self):
        expected = content(next(iter(feedrate.Loader(mnist(), batch=600))))
        images = next(iter(feedrate.Loader(mnist(), batch=600, threads=2))).images
        view = memoryview(images._native)
        del images
        gc.collect()
        other = list(feedrate.Loader(mnist(), batch=600, epochs=5, threads=2))
        self.assertEqual(view.tobytes(), expected[0])
        self.assertEqual(len(other), 5)

    def test_memory_does_not_grow_in_a_usual_loop(self):
        def resident():
            with open("/proc/self/statm") as statm:
                return int(statm.read().split()[1]) * 4096

        loader = feedrate.Loader(mnist(), batch=200, epochs=400, threads=2)  # 188 MB of pixels
        for batch in loader:
            if batch.number == 100:
                before = resident()
        self.assertLess(resident() - before, 16 << 20)

    def test_memory_is_that_of_images_that_there_are(self):
        code = """
import resource, sys, feedrate
next(iter(feedrate.Loader(sys.argv[1], batch=64, threads=2)))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
next(iter(feedrate.Loader(sys.argv[1], batch=65536, threads=2)))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""
        done = python(code, mnist())
        self.assertLess(int(done.stdout), 40, done.stderr)  # MiB; 65,536 images are 49 in each slot

    def test_memory_waits_for_the_next_iteration_until_close(self):
        pins, blocks = [], set()

        def pin(address, size):
            pins.append(size)
            blocks.add(address)

        loader = feedrate.Loader(mnist(), batch=300, epochs=None, threads=1)
        loader._pin = pin, blocks.remove
        kept = next(iter(loader))
        first = len(pins)
        self.assertGreaterEqual(first, 3)
        for _ in range(5):
            for _batch in loader:
                break
        self.assertLessEqual(len(pins), first + 2, "two are kept, the others go from iteration to iteration")
        expected = content(kept)
        loader.close()
        del _batch
        self.assertEqual(len(blocks), 1)
        self.assertEqual(content(kept), expected)
        del kept
        self.assertEqual(blocks, set())
        short = feedrate.Loader(mnist(), batch=300, threads=1)
        short._pin = pin, blocks.remove
        self.assertEqual(len([batch.number for batch in short]), 2)
        self.assertEqual(blocks, set(), "at the end of the run")

    def test_memory_is_unpinned_while_an_exception_is_raised(self):
        unpinned, ignored = [], []

        def unpin(address):
            unpinned.append(address)

        class Holder:
            """Holds the last batch of a loader."""

            def __init__(self):
                loader = feedrate.Loader(mnist(), batch=300, threads=1)
                loader._pin = lambda address, size: None, unpin
                self.batch = next(iter(loader))
                loader.close()
                unpinned.clear()

            def __iter__(self):
                return self

            def __next__(self):
                return self.batch.number

        def numbers():
            yield from Holder()

        with unittest.mock.patch.object(sys, "unraisablehook", ignored.append):
            with self.assertRaises(ZeroDivisionError):
                list(map(lambda number: 1 // number, Holder()))  # frees its argument before it raises
            self.assertEqual(len(unpinned), 1)
            generator = numbers()
            next(generator)
            generator.close()  # frees the holder while GeneratorExit is raised
        self.assertEqual(len(unpinned), 1)
        self.assertEqual(ignored, [])

    def test_abandoned_iterators_end_their_threads(self):
        loader = feedrate.Loader(mnist(), batch=10, threads=4, epochs=None)
        for _ in range(3):
            next(iter(loader))
        before = threads_now()
        for _ in range(30):
            for _batch in loader:
                break
        self.assertLessEqual(threads_now(), before)
        self.assertEqual(loader.stats(), {}, "no iteration is alive")

    def test_threads_end_after_an_exception_in_the_loop(self):
        loader = feedrate.Loader(mnist(), batch=10, threads=4, epochs=None)
        with self.assertRaises(ZeroDivisionError):
            for _ in loader:
                1 / 0
        gc.collect()
        self.assertEqual(loader.stats(), {})

    def test_closing_ends_an_iteration_but_not_its_batches(self):
        expected = content(next(iter(feedrate.Loader(mnist(), batch=10))))
        loader = feedrate.Loader(mnist(), batch=10, threads=2)
        batches = iter(loader)
        batch = next(batches)
        loader.close()
        with self.assertRaisesRegex(RuntimeError, "ended by close"):
            next(batches)
        self.assertEqual(content(batch), expected)
        self.assertEqual(len(list(loader)), 59, "the next one goes on")

    def test_a_newer_iteration_ends_the_one_before_and_says_so(self):
        loader = feedrate.Loader(mnist(), batch=10, threads=2)
        first, second = iter(loader), iter(loader)
        with self.assertRaisesRegex(RuntimeError, "newer iteration"):
            next(first)
        self.assertEqual(len(list(second)), 60)

    def test_other_threads_run_while_one_waits(self):
        loader = feedrate.Loader(photographs(), "imagenet-train", batch=256, threads=1, last="wrap")
        counted = []

        def count():
            while not counted or counted[-1] is not None:
                counted.append(time.monotonic())
                time.sleep(0.005)

        counter = threading.Thread(target=count)
        counter.start()
        start = time.monotonic()
        next(iter(loader))
        end = time.monotonic()
        counted.append(None)
        counter.join()
        meanwhile = [at for at in counted if at is not None and start < at < end]
        self.assertGreater(len(meanwhile), (end - start) / 0.1)

    def test_loaders_of_several_threads_do_not_disturb_each_other(self):
        expected = [content(batch) for batch in feedrate.Loader(mnist(), batch=20)]
        results = [None] * 4

        def load(place):
            results[place] = [content(batch) for batch in feedrate.Loader(mnist(), batch=20, threads=2)]

        workers = [threading.Thread(target=load, args=(place,)) for place in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertTrue(all(result == expected for result in results))

    def test_waiting_takes_no_processor_time(self):
        loader = feedrate.Loader(mnist(), batch=10, threads=2, epochs=None)
        batches = iter(loader)
        next(batches)
        time.sleep(0.2)  # until the ring is full
        before = time.process_time()
        time.sleep(0.5)
        self.assertLess(time.process_time() - before, 0.1)


class UnitInterruptions(unittest.TestCase):
    def test_ctrl_c_works_while_a_batch_is_awaited(self):
        def first_batch(interrupt_after=0):
            loader = feedrate.Loader(
                photographs(), "imagenet-train", batch=640, threads=1, last="wrap"
            )
            batches = iter(loader)  # takes a while to touch its memory
            signal.setitimer(signal.ITIMER_REAL, interrupt_after)
            start = time.monotonic()
            try:
                next(batches)
            finally:
                took.append(time.monotonic() - start)

        took = []
        old = signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            first_batch()
            with self.assertRaises(KeyboardInterrupt):
                first_batch(interrupt_after=took[0] / 10)
        finally:
            signal.signal(signal.SIGALRM, old)
        self.assertLess(took[1], took[0] / 2)

    def test_ctrl_c_loses_no_batch_and_repeats_none(self):
        def indices(loader, batches):
            return [content(batch)[2] for batch in itertools.islice(loader, batches)]

        for options in {"threads": 2}, {"threads": 0}, {"threads": 2, "transform": lambda batch: batch}:
            def make():
                return feedrate.Loader(mnist(), batch=5, epochs=None, **options)

            seen = interrupted_run(make, INTERRUPTS)
            self.assertGreater(len(seen), INTERRUPTS)
            self.assertEqual(indices(seen, None), indices(make(), len(seen)), options)

    def test_a_batch_whose_transform_fails_comes_again(self):
        def transform(batch):
            failed.append(batch.number)
            if failed == [0, 1, 2, 3]:
                raise KeyError(batch.number)
            return batch.number

        failed = []
        loader = feedrate.Loader(mnist(), batch=100, transform=transform)
        with self.assertRaises(KeyError):
            list(loader)
        self.assertEqual(loader.state_dict()["position"], 300)
        self.assertEqual(list(loader), [3, 4, 5])

    def test_an_interpreter_ends_with_loaders_at_work(self):
        code = """
import sys, feedrate
loader = feedrate.Loader(sys.argv[1], batch=10, threads=3, epochs=None)
batches = iter(loader)
kept = [next(batches) for _ in range(20)]
sys.kept_by_nobody_knows_whom = (batches, loader, kept)
cycle = [batches, kept]; cycle.append(cycle)
if len(sys.argv) > 2: raise SystemExit(3)
"""
        for arguments, code_expected in ([], 0), (["raise"], 3):
            done = python(code, mnist(), *arguments)
            self.assertEqual((done.returncode, done.stderr), (code_expected, ""))


    def test_a_sub_interpreter_is_refused_and_can_be_destroyed(self):
        code = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
if len(sys.argv) > 1: import feedrate
other = interpreters.create()
interpreters.run_string(other, '''
try:
    import feedrate
except ImportError as error:
    print("refused:", error, flush=True)
''')
interpreters.destroy(other)
import feedrate
print("destroyed")
"""
        for arguments in [], ["import it before"]:
            done = python(code, *arguments)
            self.assertRegex(done.stdout, "^refused: .*sub-?interpreter.*\ndestroyed\n$", done.stderr)


class HostileForks(unittest.TestCase):
    def in_child(self, work):
        """What `work` says in a forked child."""
        if os.environ.get("FEEDRATE_EMULATED") == "1":
            self.skipTest("a process of QEMU may hang when one with threads forks")
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                said = work()
            except BaseException as error:
                said = f"{type(error).__name__}: {error}"
            os.write(write, said.encode())
            os._exit(0)
        os.close(write)
        deadline = time.monotonic() + patience
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                self.fail("the child hangs")
            time.sleep(0.01)
        with os.fdopen(read) as pipe:
            return pipe.read()

    def test_a_child_is_told_that_the_threads_stayed_behind(self):
        loader = feedrate.Loader(mnist(), batch=10, threads=2)
        batches = iter(loader)
        kept = next(batches)
        expected = content(kept)

        def use_parents():
            return repr(next(batches))

        self.assertRegex(self.in_child(use_parents), "RuntimeError: this loader belongs to the process")

        def make_another():
            return repr(next(iter(feedrate.Loader(mnist(), threads=2))))

        self.assertRegex(self.in_child(make_another), "RuntimeError: this process was forked .*spawn")

        def read_without_threads():
            nonlocal batches, kept, loader
            alone = [content(batch) for batch in feedrate.Loader(mnist(), batch=10, threads=0)]
            same = alone[0] == expected == content(kept)
            del batches, kept, loader
            gc.collect()
            return f"{same} {len(alone)}"

        self.assertEqual(self.in_child(read_without_threads), "True 60")
        self.assertEqual(content(next(batches)), content(list(feedrate.Loader(mnist(), batch=10))[1]))

    @unittest.skipIf(
        "libasan" in os.environ.get("LD_PRELOAD", ""), "a fork leaves the sanitizer's allocator as it is, locked or not"
    )
    def test_a_child_can_ask_whatever_its_parent_was_about_to_do(self):
        loader = feedrate.Loader(mnist(), batch=1, threads=2, epochs=None)
        stop = threading.Event()

        def work():
            for _ in loader:
                feedrate.open(mnist())
                if stop.is_set():
                    return

        worker = threading.Thread(target=work)
        worker.start()
        try:
            for _ in range(50):
                said = self.in_child(lambda: f"{len(feedrate.open(mnist()))} {loader.state_dict()['seed']}")
                self.assertEqual(said, f"{IMAGES} 1")
        finally:
            stop.set()
            worker.join()

    def test_a_child_of_a_process_without_threads_may_have_some(self):
        code = """
import os, sys, feedrate
dataset = feedrate.open(sys.argv[1])
if os.fork() == 0:
    twice = [len(list(feedrate.Loader(dataset, batch=10, threads=2))) for _ in range(2)]
    os._exit(sum(twice))
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
        self.assertEqual(python(code, mnist()).stdout, "120\n")


if __name__ == "__main__":
    unittest.main()
