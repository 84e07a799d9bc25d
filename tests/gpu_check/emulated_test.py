#!/usr/bin/env python3
"""What samples/gpu_check/emulated.py makes of machines that are made up: how fast they load, what they deliver
and what their verdicts say.

    emulated_test.py SOURCE_DIRECTORY    FEEDRATE_PROGRAM names the program, for the tests that need it"""

import contextlib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import made_up

import emulated
import planted
from budget import Absent, Failed, Finished

CORES = 8
PROGRAM = os.environ.get("FEEDRATE_PROGRAM")


class Machine:
    """A check of a machine with eight cores, of which all do `share` of what few do."""

    def __init__(self, root, share=1.0, real=1.0, says=lambda planted, words: ""):
        self.results, self.root, self.share, self.real = root / "results.jsonl", root, share, real
        self.says, self.planted, self.disk = says, [], 5000
        self.plan, self.most = None, 1.1  # the end of the range of cores, in likely ones

    def dataset(self, name):
        return self.root / name

    def log(self):
        return self.root / "log"

    def feedrate(self, *words, **how):
        if words[0] == "train":
            return {"images_per_second": 3000}
        threads = words[words.index("--threads") + 1]
        rate = 1000 * threads * (self.share if threads == CORES else 1)
        if "--cold" in words:
            rate = min(rate, self.disk / (10 if "slow_disk" in self.planted else 1))
        return {"images_per_second": rate, "in_memory": 0.0, "bytes_read": 8000, "images": 1}

    def run(self, *words, **how):
        if words[0] == "load":
            return Finished(0, self.says(list(self.planted), words), "")
        if "--json" in words:
            return Finished(0, self.supplies(words) if words[0] == "bench" else self.report(words[1]), "")
        self.plan = json.loads(pathlib.Path(words[2]).read_text())
        with pathlib.Path(words[4]).open("w") as rows:
            for threads in self.plan["threads"]:
                for rate, emulates in ((min(3000, 1000 * threads), None),
                                       (self.real * min(3000, 1000 * threads), "3000.0 images/s")):
                    rows.write(json.dumps({"threads": threads, "emulates": emulates,
                                           "images_per_second": rate}) + "\n")
        return Finished(0, "", "")

    def supplies(self, words):
        """Rows of `bench`, a line each."""
        words = [str(word) for word in words]
        seen = CORES // 2 if "--cores" in words or self.planted else CORES
        counts = [int(count) for count in words[words.index("--threads") + 1].split(",")]
        assert max(counts) == seen, "a thread on each of the cores"
        return "".join(json.dumps({
            "kind": "supply", "threads": count, "kernel_us": 5,
            "images_per_second": 1000 * count * (self.share if count == CORES else 1)}) + "\n" for count in counts)

    def report(self, file):
        """Studies with their needs, of a machine whose cores are thought to do as much as those seen."""
        rows = [json.loads(line) for line in pathlib.Path(file).read_text().splitlines()]
        most = max(row["threads"] for row in rows if row["kind"] == "supply")
        return json.dumps({"studies": [{"device": row["device"], "needs": [{
            "cores": math.ceil(row["emulated_rate"] / 1000), "unrounded_cores": row["emulated_rate"] / 1000,
            "fewest_cores": math.floor(row["emulated_rate"] / 1100), "measured_threads": most, "kernel_percent": 1,
            "most_cores": self.most and math.ceil(self.most * row["emulated_rate"] / 1000)}]}
            for row in rows if row["kind"] == "demand"]})

    def plant(self, name):
        @contextlib.contextmanager
        def planting(*ignored):
            self.planted.append(name)
            yield
            self.planted.remove(name)
        return planting


def right(planted, words):
    if "--cold" in words:
        return "  Reading is the limit: so it is."
    if planted:
        return "  Decoding is the limit: so it is. More cores, or smaller images would help."
    if words[words.index("--threads") + 1] == 1:
        return "  Decoding is the limit: so it is. More loader threads, or smaller images would help."
    return "  4 loader threads are enough: 5,000 images/s take about 1.2 cores."


class Emulated(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.change(planted, "some_of", lambda share: set(range(max(1, round(CORES * share)))))
        self.change(os, "sched_getaffinity", lambda process: set(range(CORES)))

    def change(self, of, name, to):
        patch = unittest.mock.patch.object(of, name, to)
        patch.start()
        self.addCleanup(patch.stop)

    def machine(self, **how):
        machine = Machine(self.root, **how)
        for name in ("on", "quota", "slow_disk"):
            self.change(planted, name, machine.plant(name))
        return machine

    def test_a_machine_whose_cores_do_the_same_is_foretold(self):
        for hide in (emulated.by_affinity, emulated.by_quota):
            facts = emulated.hidden_cores(self.machine(), hide=hide)
            self.assertEqual((facts["cores"], facts["of them seen"]), (8, 4))
            self.assertEqual(facts["imagenet"],
                             {"seen": 4000, "predicted": 8000, "measured": 8000, "error %": 0, "cores": [7, 8, 9],
                              "kernel %": 1, "in range": True})
            self.assertEqual(facts["worst error %"], 0)

    def test_one_whose_cores_do_less_together_is_not(self):
        machine = self.machine(share=0.7)
        with self.assertRaisesRegex(Failed, "the range of cores misses those that there are: imagenet, ") as failed:
            emulated.hidden_cores(machine)
        self.assertEqual(failed.exception.facts["imagenet"]["error %"], 42.9)
        machine.most = 1.5  # then the range carries it, but not for most of what was tried
        with self.assertRaisesRegex(Failed, "off by 42.9 % in the median"):
            emulated.hidden_cores(machine)
        machine.most = None  # any number
        with self.assertRaisesRegex(Failed, "off by 42.9 % in the median") as failed:
            emulated.hidden_cores(machine)
        self.assertEqual(failed.exception.facts["imagenet"]["cores"], [5, 6, None])

    def test_one_core_hides_none(self):
        self.change(os, "sched_getaffinity", lambda process: {0})
        with self.assertRaisesRegex(Absent, "one core"):
            emulated.hidden_cores(self.machine())

    def test_rates_beside_a_real_device_are_those_of_one_plan(self):
        machine = self.machine(real=1.02)
        facts = emulated.beside_real(machine, rounds=3)
        self.assertEqual(machine.plan["emulated"], ["3000.0"])
        self.assertEqual(len(machine.results.read_text().splitlines()), 3 * 4 * 2)
        self.assertEqual(facts["8 threads"], {"real": 3000, "emulated": 3060, "error %": 2})
        with self.assertRaisesRegex(Failed, r"\(1 threads\)"):
            emulated.beside_real(self.machine(real=0.9))

    def test_limits_are_named(self):
        facts = emulated.limits(self.machine(says=right))
        self.assertEqual(facts["named"], "20 of 20")
        self.assertEqual({name: facts[name] for name in emulated.NAMES},
                         dict.fromkeys(emulated.NAMES, "4 of 4"))

    def test_limits_that_are_not_named_are_told(self):
        with self.assertRaisesRegex(Failed, "16 of 20 limits were not named: few threads") as failed:
            emulated.limits(self.machine(says=lambda planted, words: "4 loader threads are enough"))
        self.assertEqual(failed.exception.facts["nothing"], "4 of 4")

    def test_what_cannot_be_planted_is_left_out(self):
        machine = self.machine(says=right)
        machine.disk = 1e9

        def refused(*ignored):
            raise Absent("no control group can be made")

        for name in ("quota", "slow_disk"):
            self.change(planted, name, refused)
        facts = emulated.limits(machine)
        self.assertEqual(facts["named"], "20 of 20")
        self.assertEqual(facts["slow storage is not planted"], "no control group can be made")
        self.assertNotIn("a quota", facts)


class Planted(unittest.TestCase):
    def test_processors_come_back_after_a_failure(self):
        before = os.sched_getaffinity(0)
        with self.assertRaises(Failed):
            with planted.on({min(before)}):
                self.assertEqual(os.sched_getaffinity(0), {min(before)})
                raise Failed("on purpose")
        self.assertEqual(os.sched_getaffinity(0), before)
        self.assertEqual(planted.some_of(1), before)

    def test_a_quota_holds_for_what_is_started_and_ends(self):
        """Asked of the program itself, by the cores that it would use."""
        if PROGRAM is None:
            self.skipTest("FEEDRATE_PROGRAM names no program")

        def cores():
            said = subprocess.run([PROGRAM, "bench", "--cores", "1024", "/"], capture_output=True, text=True)
            return said.stderr

        before = cores()
        try:
            with planted.quota(1):
                self.assertIn("1 core can be used", cores())
        except Absent as reason:
            self.skipTest(str(reason))
        self.assertEqual(cores(), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
