"""`feedrate diagnose` around trainings with PyTorch: it changes nothing, and names the cause that was planted.

FEEDRATE_PROGRAM names another program than the package's. With FEEDRATE_LONG_TESTS=1, each cause is planted 20 times.
"""

import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent / "diagnose"
REPEATS = 20 if os.environ.get("FEEDRATE_LONG_TESTS") == "1" else 1
patience = 120  # seconds


DECODES = """
import io, torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
{imports}
class Set(Dataset):
    def __init__(self):
        made = io.BytesIO()
        Image.fromarray(torch.randint(0, 255, (400, 500, 3), dtype=torch.uint8).numpy()).save(made, "JPEG")
        self.bytes = torch.frombuffer(bytearray(made.getvalue()), dtype=torch.uint8)
    def __len__(self):
        return 320
    def __getitem__(self, index):
        return torch.as_tensor({decode})
for _ in DataLoader(Set(), 8):
    pass
"""

TWO_OF_A_SEED = """
import sys, time, torch
from torch.utils.data import DataLoader, IterableDataset
class Slow(IterableDataset):
    seconds = 0.002
    def __iter__(self):
        for _ in range(160):
            time.sleep(self.seconds)
            yield torch.zeros(4)
class Fast(Slow):
    seconds = 0.0005
batch, workers = eval(sys.argv[1]), int(sys.argv[2])
for dataset in Slow(), Fast():
    for _ in DataLoader(dataset, batch, num_workers=workers, generator=torch.Generator().manual_seed(1)):
        time.sleep(0.001)
"""

BATCHED_ALREADY = """
import sys, time, torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, SequentialSampler
items = {
    "tensors": lambda n: (torch.zeros(n, 3, 8, 8), torch.zeros(n)),
    "table": lambda n: {"image": torch.zeros(n, 3, 8, 8), "name": ["x"] * n, "epoch": 1},
    "lists": lambda n: {"tokens": [[1, 2, 3]] * n, "label": [0] * n},
    "list": lambda n: ["x"] * n,
    "pictures": lambda n: [torch.zeros(3, 8, 5 + i) for i in range(n)],
    "objects": lambda n: ([torch.zeros(3, 8, 5 + i) for i in range(n)], [{"boxes": torch.zeros(40, 4)}] * n),
    "one_pair": lambda n: (torch.zeros(3, 8, 8), 5),
    "one_picture": lambda n: torch.zeros(3, 8, 8),
    "one_text": lambda n: {"tokens": torch.zeros(512), "label": torch.tensor(1)},
    "one_number": lambda n: 5,
}
class Items(Dataset):
    def __len__(self):
        return 30
    def __getitem__(self, index):
        time.sleep(0.001)
        return items[type(self).__name__](12 if isinstance(index, int) else len(index))
class Streamed(IterableDataset):
    def __iter__(self):
        return map(type("tensors", (Items,), {})().__getitem__, range(30))
class Single(IterableDataset):
    def __iter__(self):
        return iter(range(17))
class Wrapped(list):
    pass
sets = {kind: type(kind, (Items,), {})() for kind in items}
for _ in sys.modules["_feedrate_probe"].wrap(Wrapped([{"x": torch.zeros(12, 5)}] * 30)):
    pass
for made in [DataLoader(one, None) for one in sets.values()] + [
        DataLoader(Streamed(), None, num_workers=1),
        DataLoader(type("sampled", (Items,), {"__getitem__": lambda self, index: sets["one_pair"][0]})(), None,
                   sampler=BatchSampler(SequentialSampler(range(360)), 12, False))]:
    for _ in made:
        pass
single = DataLoader(Single(), 16)
for _ in range(9):
    for _ in single:
        time.sleep(0.03)  # so that each is timed in full
"""

VALIDATES = """
import sys, time, torch
from torch.utils.data import DataLoader
train, validation = DataLoader(range(800), 8), DataLoader(range(160), 8)
inside, begin = 0, time.monotonic()
for number, batch in enumerate(train):
    time.sleep(0.01)
    if number % 10 == 9:
        inside -= time.monotonic()
        for at, batch in enumerate(validation):
            time.sleep(0.003)
            if number == 49 and at == 9:
                break
        inside += time.monotonic()
open(sys.argv[1], "w").write(repr((time.monotonic() - begin - inside, inside)))
"""

ENDED_IN_THE_PAUSE = """
import os, signal, torch
from torch.utils.data import DataLoader
main = os.getpid()
class Set(torch.utils.data.Dataset):
    def __len__(self):
        return 1 << 27  # longer than the warm-up
    def __getitem__(self, index):
        if os.getpid() != main and os.path.exists("/proc/%d" % main):
            os.kill(main, signal.SIGTERM)
        return index
for _ in DataLoader(Set(), 8):
    pass
"""


def running_in(session):
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, owner = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(owner) == session and state != "Z":
            found.append(stat)
    return found


def program():
    if "FEEDRATE_PROGRAM" in os.environ:
        return os.environ["FEEDRATE_PROGRAM"]
    from feedrate._program import program

    return program()


def run(*words, options=(), **more):
    done = subprocess.run([program(), "diagnose", *options, "--", *words], capture_output=True, text=True,
                          timeout=patience, **more)  # fmt: skip
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done


def diagnosed(*words, options=("--no-sweep",)):
    return json.loads(run(*words, options=[*options, "--json"]).stdout)


def there(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


@unittest.skipUnless(there("torch", "numpy"), "there is no PyTorch")
class InteropDiagnose(unittest.TestCase):
    def plain(self, script, *words):
        return subprocess.run([sys.executable, HERE / script, *words], capture_output=True, text=True,
                              timeout=patience, check=True).stdout  # fmt: skip

    def test_weights_and_random_numbers_are_the_same_bits(self):
        for workers, start in ("0", "fork"), ("2", "fork"), ("2", "spawn"), ("1", "forkserver"):
            with self.subTest(workers=workers, start=start):
                words = [workers, start, "5" if start == "fork" else "2"]
                said = run(sys.executable, HERE / "training.py", *words, options=["--seconds", "0.3"])
                self.assertEqual(said.stdout, self.plain("training.py", *words))
                self.assertIn("samples/s of the loader alone", said.stderr)

    def test_a_loader_keeps_nothing_of_the_probe(self):
        script = (
            "import copy, pickle\n"
            "from torch.utils.data import DataLoader\n"
            "loader = DataLoader(range(8), 2)\n"
            "before = vars(loader).keys()\n"
            "for _ in range(2):\n"
            "    assert len(list(loader)) == 4\n"
            "assert vars(loader).keys() == before, vars(loader)\n"
            "for other in copy.copy(loader), pickle.loads(pickle.dumps(loader)):\n"
            "    assert len(list(other)) == 4\n"
            "print(b'feedrate' in pickle.dumps(loader))\n"
        )
        self.assertEqual(run(sys.executable, "-c", script).stdout, "False\n")

    def test_the_sweep_measures_up_to_the_cores(self):
        found = diagnosed(sys.executable, HERE / "training.py", "1", "fork", "5", options=["--seconds", "0.3"])
        measured = [point["workers"] for point in found["curve"] if point["measured"]]
        self.assertEqual(measured[:2], [0, 1], found)
        self.assertLessEqual(measured[-1], max(1, found["cores"]))

    def test_starts_the_command_again_with_other_workers_if_it_was_asked_to(self):
        """And ends it early: a whole training writes `trained`."""
        found = diagnosed(sys.executable, HERE / "planted.py", "too-few-workers", options=("--no-sweep", "--restart", "20"))
        again = found["restarts"]
        self.assertEqual([one["workers"] for one in again[:2]], [0, 1])
        self.assertEqual(again[-1]["workers"], max(1, round(found["cores"])))
        self.assertGreater(min(one["delivered"] for one in again), 0, again)
        self.assertEqual(diagnosed(sys.executable, HERE / "planted.py", "model")["restarts"], [])

    def test_says_why_a_restart_measured_nothing(self):
        with tempfile.TemporaryDirectory() as directory:
            script = pathlib.Path(directory) / "once.py"
            script.write_text("import os, sys, time\nfrom torch.utils.data import DataLoader\n"
                              "if os.path.exists(sys.argv[1]):\n    sys.exit(3)\nopen(sys.argv[1], 'w')\n"
                              "for _ in DataLoader(range(40)):\n    time.sleep(0.001)\n")  # fmt: skip
            found = diagnosed(sys.executable, script, directory + "/there", options=("--no-sweep", "--restart", "10"))
            self.assertIn("ended with exit code 3", found["restarts"][0]["problem"])
            self.assertEqual(found["exit_code"], 0)

    def planted(self, cause, start="fork"):
        for _ in range(REPEATS):
            with self.subTest(cause=cause, start=start):
                found = diagnosed(sys.executable, HERE / "planted.py", cause, start)
                named = [one["cause"] for one in found["causes"]]
                self.assertEqual(named[:1], [cause], json.dumps(found, indent=1))

    def test_names_the_planted_cause(self):
        for cause in ("your-code", "too-few-workers", "more-workers-than-cores", "workers-restarted", "slow-storage",
                      "slow-sample", "slow-collate", "many-small-tensors", "float32", "pinning", "model"):  # fmt: skip
            self.planted(cause)

    @unittest.skipUnless(there("torchvision", "PIL"), "there is no torchvision")
    def test_names_none_where_none_is_planted(self):
        for start in "fork", "spawn", "forkserver":
            found = diagnosed(sys.executable, HERE / "planted.py", "nothing", start)
            self.assertEqual([one["cause"] for one in found["causes"]], ["model"], json.dumps(found, indent=1))

    def test_names_it_where_workers_are_spawned(self):
        self.planted("slow-spawn", "spawn")
        self.planted("your-code", "spawn")

    @unittest.skipUnless(there("torchvision", "PIL"), "there is no torchvision")
    def test_names_decoding_and_a_transform_with_its_line(self):
        self.planted("decoding")
        self.planted("transform")
        cause = diagnosed(sys.executable, HERE / "planted.py", "transform")["causes"][0]
        self.assertIn("Grain", cause["what"])
        lines = (HERE / "planted.py").read_text().splitlines()
        self.assertIn("def __call__", lines[int(cause["where"].rpartition(":")[2]) - 1])

    def test_of_ranks_it_tells_which_holds_up_the_others_and_why(self):
        words = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", HERE / "ranks.py"]
        found = diagnosed(*words, options=())
        self.assertEqual(sorted(loop["rank"] for loop in found["loops"]), [0, 1])
        slowest = found["slowest_rank"]
        self.assertEqual((slowest["rank"], slowest["ranks"]), (1, 2), found)
        self.assertIn(slowest["cause"], ("too-few-workers", "your-code"))
        self.assertGreater(slowest["wait_share"], slowest["others_wait_share"] + 0.3)

    def test_sees_decoding_by_opencv_and_by_torchvision(self):
        decoders = {"cv2": ("import cv2", "cv2.imdecode(self.bytes.numpy(), 1)[:8, :8]"),
                    "torchvision": ("import torchvision.io", "torchvision.io.decode_image(self.bytes)[:, :8, :8]")}
        with tempfile.TemporaryDirectory() as directory:
            for module, (imports, decode) in decoders.items():
                if not there(module, "PIL"):
                    continue
                with self.subTest(module=module):
                    script = pathlib.Path(directory) / (module + "_decodes.py")
                    script.write_text(DECODES.format(imports=imports, decode=decode))
                    found = diagnosed(sys.executable, script)
                    self.assertEqual(found["causes"][0]["cause"], "too-few-workers", found)
                    self.assertIn("decoding", [one["cause"] for one in found["causes"]], found)

    def test_batches_are_of_their_loader_though_another_has_its_seed(self):
        """And the code of a dataset without indices is its own code."""
        with tempfile.TemporaryDirectory() as directory:
            script = pathlib.Path(directory) / "two.py"
            script.write_text(TWO_OF_A_SEED)
            for batch, workers in ("8", "1"), ("None", "0"):
                with self.subTest(batch=batch, workers=workers):
                    slow, fast = diagnosed(sys.executable, script, batch, workers)["loops"]
                    self.assertEqual((slow["dataset"], fast["dataset"]), ("Slow", "Fast"))
                    self.assertGreater(slow["batch_seconds"], 1.5 * fast["batch_seconds"])
                    for loop in slow, fast:
                        longest = max(loop["stages"], key=lambda stage: stage["seconds"])
                        self.assertEqual(longest["stage"], "getitem", loop)

    def test_counts_the_samples_of_items_that_are_batched_already(self):
        """Where a loader has no size of batches, in another loop, and in the smaller last batch of a stream."""
        with tempfile.TemporaryDirectory() as directory:
            script = pathlib.Path(directory) / "batched.py"
            script.write_text(BATCHED_ALREADY)
            loops = diagnosed(sys.executable, script)["loops"]
            found = {loop["dataset"]: loop["batch"] for loop in loops}
            one = {kind: 1 for kind in ("one_pair", "one_picture", "one_text", "one_number")}
            many = ("tensors", "table", "lists", "list", "pictures", "objects", "Streamed", "sampled", "Wrapped")
            self.assertAlmostEqual(found.pop("Single"), (16 + 1) / 2, delta=2)  # of those that were timed in full
            self.assertEqual(found, {**one, **{kind: 12 for kind in many}})

    def test_a_validation_within_the_loop_is_no_part_of_its_steps(self):
        with tempfile.TemporaryDirectory() as directory:
            script = pathlib.Path(directory) / "validates.py"
            script.write_text(VALIDATES)
            train = diagnosed(sys.executable, script, directory + "/times")["loops"][0]
            outside, inside = eval(pathlib.Path(directory, "times").read_text())
            self.assertEqual(train["steps"], 100)
            self.assertAlmostEqual(train["delivered"] * outside / 800, 1, delta=0.1)
            self.assertAlmostEqual(train["other_loops_seconds"] / inside, 1, delta=0.1)

    def test_a_loader_that_is_made_anew_in_each_epoch_is_one_loop(self):
        with tempfile.TemporaryDirectory() as directory:
            script = pathlib.Path(directory) / "anew.py"
            script.write_text("import time\nfrom torch.utils.data import DataLoader\nfor _ in range(12):\n"
                              "    for _ in DataLoader(range(24), 4, num_workers=1, persistent_workers=True):\n"
                              "        time.sleep(0.001)\n")  # fmt: skip
            found = diagnosed(sys.executable, script)
            self.assertEqual([loop["steps"] for loop in found["loops"]], [72])
            self.assertEqual(found["causes"][0]["cause"], "workers-restarted")
            self.assertIn("make it once", found["causes"][0]["change"])
            again = diagnosed(sys.executable, script, options=("--no-sweep", "--restart", "40"))["restarts"]
            self.assertTrue(all(one["delivered"] for one in again), again)

    def test_names_the_line_of_a_script_that_has_no_file(self):
        script = "import time\nfrom torch.utils.data import DataLoader\nfor _ in DataLoader(range(40)):\n    time.sleep(0.001)"
        self.assertEqual(diagnosed(sys.executable, "-c", script)["loops"][0]["where"], "<string>:3")
        done = subprocess.run([program(), "diagnose", "--json", "--", sys.executable, "-"], input=script,
                              capture_output=True, text=True, timeout=patience)  # fmt: skip
        self.assertEqual(json.loads(done.stdout)["loops"][0]["where"], "<stdin>:3")

    def test_another_format_is_advised_against(self):
        causes = diagnosed(sys.executable, HERE / "planted.py", "your-code")["causes"]
        self.assertIn("format", [one["cause"] for one in causes])

    def test_another_loop_is_seen_if_it_is_wrapped(self):
        with tempfile.TemporaryDirectory() as directory:
            script = pathlib.Path(directory) / "loop.py"
            script.write_text("import sys, time\nprobe = sys.modules['_feedrate_probe']\n"
                              "for one in probe.wrap(range(50)):\n    time.sleep(0.002)\n")  # fmt: skip
            found = diagnosed(sys.executable, script)
            self.assertEqual((found["limit"], found["loops"][0]["steps"]), ("model", 50))

    def test_nothing_is_left_of_a_run_that_is_ended_in_the_pause(self):
        with tempfile.TemporaryDirectory() as directory:
            words = [program(), "diagnose", "--seconds", "3", "--", sys.executable, "-c", ENDED_IN_THE_PAUSE]
            with subprocess.Popen(words, stderr=subprocess.PIPE, start_new_session=True,
                                  env={**os.environ, "TMPDIR": directory}) as command:  # fmt: skip
                command.communicate(timeout=patience)
                self.assertEqual(command.returncode, -signal.SIGTERM)
                until = time.monotonic() + 4
                while running_in(command.pid) and time.monotonic() < until:
                    time.sleep(0.1)
                self.assertEqual(running_in(command.pid), [])
            self.assertEqual(list(pathlib.Path(directory).glob("feedrate-*")), [])

    def test_a_run_that_fails_keeps_its_code_and_its_words(self):
        done = subprocess.run([program(), "diagnose", "--", sys.executable, "-c", "import torch; raise SystemExit(9)"],
                              capture_output=True, text=True, timeout=patience)  # fmt: skip
        self.assertEqual(done.returncode, 9)
        self.assertIn("No diagnosis", done.stderr)


if __name__ == "__main__":
    unittest.main()
