#!/usr/bin/env python3
"""What samples/gpu_check.sh makes of what programs say: with made-up programs, on no device.

    judge_test.py SOURCE_DIRECTORY"""

import argparse
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "samples/gpu_check"))

import measure
import place
import prove
import summary
import tiers
from budget import Absent, Cut, Failed, Problem
from check import Check, NoDevice

# Says what says.json has for its first argument; makes what a dataset or a report is to be called.
PROGRAM = """#!{python} -IS
import json, pathlib, sys, time
here, words = pathlib.Path(__file__).parent, sys.argv[1:]
with (here / "asked").open("a") as log:
    log.write(" ".join(words) + "\\n")
says = json.loads((here / "says.json").read_text()).get(words[0].split("=")[0], {{}})
if words[0] in ("synth", "convert"):
    pathlib.Path(words[words.index("--out") + 1]).mkdir(parents=True, exist_ok=True)
for word in words:
    if word.startswith("--gtest_output=json:"):
        pathlib.Path(word[20:]).write_text(json.dumps(says["report"]))
time.sleep(says.get("sleep", 0))
print(json.dumps(says.get("object", {{}})))
print(says.get("errors", ""), file=sys.stderr)
sys.exit(says.get("code", 0))
"""


def report(*tests):
    return {"testsuites": [{"name": "Cuda/Suite", "testsuite": list(tests)}] if tests else []}


GOOD = {"name": "good", "result": "COMPLETED"}
SKIPPED = {"name": "skipped", "result": "SKIPPED"}
WRONG = {"name": "wrong", "result": "COMPLETED",
         "failures": [{"failure": "file.cpp:3\nExpected equality", "type": ""}]}
ALL_WELL = {
    "list": {"object": {"devices": [{"name": "cuda", "available": True, "device": "made-up GPU",
                                     "reason": None}]}},
    "time": {"object": {"roof": {"gflops_per_second": 9e5, "gb_per_second": 3000}}},
    "train": {"object": {"steps_recorded": True, "loss": 6.9}},
    "--gtest_filter": {"report": report(GOOD)}}


# What ncu writes: names, units, a line for each kernel.
NCU = """#!{python} -IS
import pathlib, sys
pathlib.Path(sys.argv[sys.argv.index("--log-file") + 1]).write_text(
    '==PROF== Connected\\n"ID","Kernel Name","gpu__time_duration.sum","dram__bytes_read.sum",'
    '"dram__bytes_write.sum"\\n"","","ns","byte","byte"\\n"0","a","2,000,000","64,000,000","0"\\n'
    '"1","b","500,000","64,000,000","128,000,000"\\n')
"""


class Place:
    def __init__(self, root):
        self.root, self.program, self.tests = root, root / "feedrate", root / "test_trainer"
        for program in (self.program, self.tests):
            program.write_text(PROGRAM.format(python=sys.executable))
            program.chmod(0o755)

    def environment(self, kind):
        return {}


class Judging(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.place = Place(self.root)
        place.tool = lambda name: None
        self.says(ALL_WELL)

    def says(self, what):
        (self.root / "says.json").write_text(json.dumps(what))

    def asked(self, word):
        lines = (self.root / "asked").read_text().splitlines()
        return sum(line.startswith(word) for line in lines)

    def check(self, resume=False, tiers=1):
        return Check(self.place, argparse.Namespace(minutes=60.0, resume=resume, tiers=tiers,
                                                    cifar10=self.root if tiers > 1 else None,
                                                    out=self.root / "out"))

    def run_all(self, resume=False, left=None, wanted=1):
        """The exit code and the lines of the summary. `left`: seconds of the budget, by the step."""
        check = self.check(resume, wanted)
        if left:
            check.budget.left = lambda: left(check.step)
        with contextlib.redirect_stdout(io.StringIO()):
            tiers.run_all(check)
            code = summary.write(check)
        return code, (check.out / "summary.txt").read_text().splitlines()

    def first_line(self, **changes):
        self.says(ALL_WELL | changes)
        code, lines = self.run_all()
        self.assertEqual(code, 1)
        return lines[0]

    def test_all_is_well(self):
        code, lines = self.run_all()
        self.assertEqual((code, lines[0]), (0, "No step failed."))
        self.assertIn("not possible here: memcheck, racecheck: compute-sanitizer is neither", "\n".join(lines))
        self.assertIn("tests: tests 1", lines)

    def test_every_step_of_every_tier(self):
        ncu = self.root / "ncu"
        ncu.write_text(NCU.format(python=sys.executable))
        ncu.chmod(0o755)
        place.tool = lambda name: ncu if name == "ncu" else None
        trained = ALL_WELL["train"]["object"] | {
            "images": 5120, "images_per_second": 256.0, "seconds": 20.0, "stall_percent": 0.1,
            "val_accuracy": 0.934, "gpu_power_w": 600.0, "gpu_energy_j": 12000.0,
            "gpu_clock_mhz": 1700, "gpu_throttle": "none", "gpu_memory_mib": 900.0}
        timed = ALL_WELL["time"]["object"] | {"step_ms": 9.0, "by_operator": [
            {"op": "conv", "forward_ms": 2.0, "backward_ms": 4.5, "share": 0.7}]}
        self.says(ALL_WELL | {"train": {"object": trained}, "time": {"object": timed}})
        code, lines = self.run_all(wanted=4)
        steps = [json.loads(line) for line in (self.root / "out/steps.jsonl").read_text().splitlines()]
        self.assertEqual([row["step"] for row in steps if row["status"] != "ok"],
                         ["memcheck", "racecheck"])
        self.assertEqual(len(steps), sum(len(tier) for tier in tiers.TIERS))
        facts = {row["step"]: row["facts"] for row in steps}
        self.assertEqual(facts["energy"]["joules an image"], 2.3438)
        self.assertEqual(facts["layers 8"], {"step_ms": 9.0, "conv ms": 6.5})
        self.assertEqual(facts["counters"], {"kernels": 2, "ms": 2.5, "mb an image": 4.0})
        self.assertEqual(code, 0)
        file = self.root / "out/logs/resnet50-bf16-256-pytorch:cuda-graph.plan.json"
        plan = json.loads(file.read_text())
        self.assertEqual((plan["tools"], plan["batches"], plan["precisions"], plan["networks"]),
                         (["pytorch:cuda-graph"], [256], ["bf16"], ["resnet50"]))
        trained["val_accuracy"] = 0.91
        self.says(ALL_WELL | {"train": {"object": trained}, "time": {"object": timed}})
        check = self.check(True, 4)
        check.step = "accuracy"
        with self.assertRaisesRegex(Failed, "91.00% after 20 s; 93 % are wanted"):
            measure.accuracy(check)

    def test_rows_of_an_earlier_call_are_kept(self):
        check = self.check()
        check.results.write_text("{}\n")
        with self.assertRaisesRegex(Problem, "--resume goes on with them"):
            self.check()
        self.assertEqual(self.check(resume=True).results.read_text(), "{}\n")

    def test_a_peer_that_crashes_does_not_stop_the_others(self):
        (self.root / "out/data/mnist").mkdir(parents=True)
        check = self.check()
        check.step = "rates"
        self.says({"bench": {"code": 1, "errors": "feedrate bench: pytorch.py: boom\nRows are kept."}})
        with self.assertRaisesRegex(Absent, "^pytorch: .*boom; pytorch:compile: .*boom$"):
            measure.rates(check, "mnist", ["lenet"], 64, "bf16", ["pytorch", "pytorch:compile"])
        with self.assertRaisesRegex(Failed, "^feedrate bench: .*boom$"):
            measure.rates(check, "mnist", ["lenet"], 64, "bf16", ["feedrate"])

    def test_a_test_that_is_skipped_or_wrong_or_absent_is_a_failure(self):
        skipped = self.first_line(**{"--gtest_filter": {"report": report(GOOD, SKIPPED)}})
        self.assertEqual(skipped, "FAILED: tests: 1 of 2 tests: Cuda/Suite.skipped: skipped")
        wrong = self.first_line(**{"--gtest_filter": {"report": report(WRONG, GOOD), "code": 1}})
        self.assertEqual(wrong, "FAILED: tests: 1 of 2 tests: Cuda/Suite.wrong: Expected equality")
        none = self.first_line(**{"--gtest_filter": {"report": report()}})
        self.assertEqual(none, "FAILED: tests: there is no test Cuda/* in test_trainer")
        with self.assertRaisesRegex(Failed, "exit code is 3"):
            prove.judge(report(GOOD), 3)

    def test_steps_that_are_not_recorded_are_a_failure(self):
        line = self.first_line(train={"object": {"steps_recorded": False, "loss": 1}})
        self.assertEqual(line, "FAILED: recorded bf16: steps of resnet50 in bf16 at batch 8 run "
                               "kernel by kernel")

    def test_a_fallback_is_a_failure(self):
        said = ALL_WELL["train"] | {"errors": "feedrate: warning: conv1 falls back to engine 0"}
        self.assertIn("conv1 falls back", self.first_line(train=said))

    def test_a_loss_that_is_not_finite_is_a_failure(self):
        line = self.first_line(train={"object": {"steps_recorded": True, "loss": None}})
        self.assertIn("is not finite", line)

    def test_no_device_ends_it(self):
        device = {"name": "cuda", "available": False, "reason": "no CUDA device was found"}
        self.says(ALL_WELL | {"list": {"object": {"devices": [device]}}})
        with self.assertRaisesRegex(NoDevice, "^no CUDA device was found"):
            self.run_all()
        self.assertEqual(self.asked("train"), 0)

    def test_the_budget_is_kept_and_a_later_call_does_the_rest_and_no_more(self):
        self.says(ALL_WELL | {"train": ALL_WELL["train"] | {"sleep": 600}})
        began = time.monotonic()
        code, lines = self.run_all(left=lambda step: 1 if step.startswith("recorded") else 600)
        self.assertLess(time.monotonic() - began, 600)
        self.assertEqual((code, lines[0]), (0, "No step failed."))
        self.assertTrue(any(line.startswith("left for --resume: recorded bf16, recorded tf32")
                            for line in lines), lines)
        tests = self.asked("--gtest_filter")
        self.says(ALL_WELL)
        code, lines = self.run_all(resume=True)
        self.assertEqual(self.asked("--gtest_filter"), tests)
        self.assertFalse(any(line.startswith("left") for line in lines), lines)
        self.assertEqual(self.run_all(resume=False)[0], 0)
        self.assertEqual(self.asked("--gtest_filter"), tests + 1)

    def test_a_step_that_hangs_is_ended(self):
        check = self.check()
        check.step = "hangs"
        self.says({"load": {"sleep": 600}})
        with self.assertRaisesRegex(Failed, "took longer than 1 s"):
            check.call([self.place.program, "load"], 1)
        check.budget.end = 0
        with self.assertRaises(Cut):
            check.call([self.place.program, "load"], 1)

    def test_a_step_that_needs_what_an_earlier_one_did_not_make_says_so(self):
        with self.assertRaisesRegex(Absent, "there is no imagenet"):
            self.check().dataset("imagenet")

    def test_the_table_compares_with_the_best_of_the_others(self):
        row = {"network": "resnet50", "precision": "bf16", "batch": 8, "kind": "compute"}
        rates = {"feedrate": 3000, "pytorch": 500, "pytorch:compile": 1200}
        lines = summary.table([row | {"tool": tool, "images_per_second": rate}
                               for tool, rate in rates.items()])
        self.assertEqual(lines[2].split(),
                         ["resnet50", "bf16", "8", "compute", "3,000", "500", "1,200", "2.50"])


unittest.main()
