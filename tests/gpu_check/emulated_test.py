#!/usr/bin/env python3
"""What samples/gpu_check/emulated.py makes of machines that are made up: how fast they load, what they deliver
and what their verdicts say.

    emulated_test.py SOURCE_DIRECTORY"""

import contextlib
import json
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

import made_up

import emulated
import planted
from budget import Absent, Failed, Finished

CORES = 8


class Machine:
    """A check of a machine with eight cores, of which all do `share` of what few do."""

    def __init__(self, root, share=1.0, real=1.0, says=lambda planted, words: ""):
        self.results, self.root, self.share, self.real = root / "results.jsonl", root, share, real
        self.says, self.planted, self.disk = says, [], 5000
        self.plan = None

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
        self.plan = json.loads(pathlib.Path(words[2]).read_text())
        with pathlib.Path(words[4]).open("w") as rows:
            for threads in self.plan["threads"]:
                for rate, emulates in ((min(3000, 1000 * threads), None),
                                       (self.real * min(3000, 1000 * threads), "3000.0 images/s")):
                    rows.write(json.dumps({"threads": threads, "emulates": emulates,
                                           "images_per_second": rate}) + "\n")
        return Finished(0, "", "")

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
    return "  The consumer is the limit: it gets all that it can take."


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

    def hidden_cores(self, machine):
        return emulated.hidden_cores(machine, hide=machine.plant("on"))

    def test_a_machine_whose_cores_do_the_same_is_foretold(self):
        facts = self.hidden_cores(self.machine())
        self.assertEqual((facts["cores"], facts["of them seen"]), (8, 4))
        self.assertEqual(facts["imagenet"],
                         {"seen": 4000, "predicted": 8000, "measured": 8000, "error %": 0})
        self.assertEqual(facts["worst error %"], 0)

    def test_one_whose_cores_do_less_together_is_not(self):
        with self.assertRaisesRegex(Failed, "off by 25.0 % in the median") as failed:
            self.hidden_cores(self.machine(share=0.8))
        self.assertEqual(failed.exception.facts["imagenet"]["error %"], 25)

    def test_one_core_hides_none(self):
        self.change(planted, "some_of", lambda share: set(range(CORES)))
        with self.assertRaisesRegex(Absent, "one core"):
            self.hidden_cores(self.machine())

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
            emulated.limits(self.machine(says=lambda planted, words: "The consumer is the limit"))
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
