#!/usr/bin/env python3
"""What the steps of samples/gpu_check.sh make of devices that are made up of failures.

    judge_test.py SOURCE_DIRECTORY"""

import json
import sys
import time
import unittest
import unittest.mock

from made_up import FEW, TRAINED, Case

import learn
import measure
import steps
import summary
from budget import Absent, Cut, Failed
from check import NoDevice

# What ncu writes: names, units, a line for each kernel.
NCU = """#!{python} -IS
import pathlib, sys
assert sys.argv[sys.argv.index("--clock-control") + 1] == "none"
pathlib.Path(sys.argv[sys.argv.index("--log-file") + 1]).write_text(
    '==PROF== Connected\\n"ID","Kernel Name","gpu__time_duration.sum","dram__bytes_read.sum",'
    '"dram__bytes_write.sum"\\n"","","ns","byte","byte"\\n"0","a","2,000,000","64,000,000","0"\\n'
    '"1","b","500,000","64,000,000","128,000,000"\\n"2","c","n/a","n/a","n/a"\\n')
"""
# A compute-sanitizer that checks nothing: it finds no errors, but racecheck finds three, or crashes
# while training.
SANITIZER = """#!{python} -IS
import sys
assert sys.argv[sys.argv.index("--kernel-name") + 1] == "kns=feedrate"
found = "racecheck" in sys.argv
if found and "train" in sys.argv:
    print("========= Internal Sanitizer Error: it broke.")
print("========= ERROR SUMMARY: " + ("3 errors" if found else "0 errors"))
sys.exit(99 if found else 0)
"""


class Judging(Case):
    def test_all_is_well(self):
        code, lines = self.run_all(only=FEW + ["memcheck decode"])
        self.assertEqual((code, lines[-1]), (0, "No step failed."))
        self.assertIn("not possible here: memcheck decode: compute-sanitizer is neither",
                      "\n".join(lines))
        self.assertIn("tests: tests 1, passed 1, closest 0.5 of what is allowed", "\n".join(lines))

    def test_every_step(self):
        self.program("ncu", NCU)
        self.program("compute-sanitizer", SANITIZER)
        # A made-up program loads as fast whatever is planted: emulated_test.py has those steps.
        names = [name for name, step in steps.STEPS.items()
                 if getattr(step, "__module__", "") != "emulated"]
        code, lines = self.run_all(only=names)
        rows = {name: self.row(name) for name in names}
        self.assertEqual({name: row["status"] for name, row in rows.items() if row["status"] != "ok"},
                         {"racecheck decode": "failed", "racecheck training": "failed",
                          "fused sums": "absent", "python device": "absent", "accuracy": "absent"})
        self.assertEqual(rows["racecheck decode"]["reason"], "ERROR SUMMARY: 3 errors")
        self.assertEqual(rows["racecheck training"]["reason"],
                         "racecheck did not get to the end: Internal Sanitizer Error: it broke.")
        facts = {name: row["facts"] for name, row in rows.items()}
        self.assertEqual(facts["energy"]["joules an image"], 2.3438)
        self.assertEqual(facts["layers 8"], {"step_ms": 9.0, "conv ms": 6.5})
        self.assertEqual(facts["counters"], {"kernels": 3, "ms": 2.5, "mb an image": 4.0})
        self.assertEqual(facts["recorded bf16 256"]["engines"], 158)
        self.assertNotIn("conv1", json.dumps(facts), "engines stay in the files")
        self.assertEqual(facts["without norm-sum 8"]["same bits"], True)
        self.assertEqual((code, lines[-1][:25]), (1, "FAILED: racecheck trainin"))
        self.assertLess(len("\n".join(lines)), 12000)
        file = self.root / "out/logs/pytorch:cuda-graph-bf16-256-pytorch:cuda-graph-compute.plan.json"
        plan = json.loads(file.read_text())
        self.assertEqual((plan["tools"], plan["batches"], plan["precisions"], plan["networks"]),
                         (["pytorch:cuda-graph"], [256], ["bf16"], ["resnet50"]))
        self.assertEqual(sorted(file.name for file in (self.root / "keep").iterdir()),
                         ["layers-256.json", "logs.tar.gz", "steps.jsonl", "summary.txt", "tests.json"])

    def test_a_peer_that_crashes_does_not_stop_the_others(self):
        check = self.check()
        check.step = "rates"
        self.says(bench={"code": 1, "errors": "feedrate bench: pytorch.py: boom\nRows are kept."})
        with self.assertRaisesRegex(Absent, "^pytorch: .*boom; pytorch:compile: .*boom$"):
            measure.rates(check, "mnist", ["lenet"], 64, "bf16", ["pytorch", "pytorch:compile"])
        with self.assertRaisesRegex(Failed, "^compute: feedrate bench: .*boom; delivered: "):
            measure.rates(check, "mnist", ["lenet"], 64, "bf16", ["feedrate"])

    def test_steps_that_are_not_recorded_are_a_failure(self):
        line = self.last_line(train=self.trained(steps_recorded=False))
        self.assertEqual(line, "FAILED: recorded bf16 256: steps of resnet50 in bf16 at batch 256 run "
                               "kernel by kernel")

    def test_early_kernels_that_cannot_be_recorded_are_a_failure(self):
        line = self.last_line(train=self.trained(
            early_kernels=False, early_kernels_off="a step with it cannot be recorded: CUDA: no"))
        self.assertEqual(line, "FAILED: recorded bf16 256: early kernels of resnet50 in bf16 at batch "
                               "256: a step with it cannot be recorded: CUDA: no")

    def test_a_warning_is_noted_and_the_numbers_count(self):
        self.says(train=self.trained() | {"errors": "feedrate: warning: conv1 falls back to engine 0"})
        code, lines = self.run_all()
        self.assertEqual(code, 0)
        self.assertIn("warning: recorded bf16 256: feedrate: warning: conv1 falls back to engine 0",
                      lines)
        self.assertEqual(self.row("recorded bf16 256")["facts"]["images_per_second"], 256.0)

    def test_a_loss_that_is_not_finite_is_a_failure(self):
        self.assertIn("is not finite", self.last_line(train=self.trained(loss=None)))

    def test_garbage_is_a_failure_with_a_traceback_and_the_rest_runs(self):
        line = self.last_line(train={"garbage": [0xff, 0, 123, 10]})
        self.assertTrue(line.startswith("FAILED: recorded bf16 256: JSONDecodeError: "), line)
        self.assertIn("Traceback", (self.root / "out/logs/recorded-bf16-256.log").read_text())
        self.assertEqual(self.row("tests")["status"], "ok")
        del TRAINED["loss"]
        try:
            self.forget()
            self.assertIn("KeyError: 'loss'", self.last_line())
        finally:
            TRAINED["loss"] = 6.9

    def test_a_fusion_that_changes_bits_only_may_if_it_changes_arithmetic(self):
        only = ["fused 256", "fused 256 again", "without norm-sum 256", "without weight-branch 256"]
        other = self.trained(images_per_second=200.0, loss_bits="0x1.bp+3")
        self.says(train=self.trained() | {"without": {"norm-sum": other, "weight-branch": other}})
        self.run_all(only=only)
        rows = {name: self.row(name) for name in only}
        self.assertEqual({name: row["status"] for name, row in rows.items()},
                         dict.fromkeys(only, "ok") | {"without weight-branch 256": "failed"})
        self.assertEqual(rows["without norm-sum 256"]["facts"],
                         {"images_per_second": 200.0, "it brings": "+28.0 %", "loss": 6.9,
                          "same bits": False})
        self.forget()
        self.run_all(only=only[2:3])
        self.assertEqual(self.row(only[2])["facts"], rows[only[2]]["facts"], "it asks for both again")

    def test_learning_is_judged_beside_the_cpu(self):
        check = self.check()
        check.step = "learning"
        self.assertEqual(learn.made(check), {"cuda": 0.934, "cpu": 0.934})
        self.says(train=self.trained(val_accuracy=0.1))
        with self.assertRaisesRegex(Failed, "10.0% on the GPU, 10.0% on the CPU; at least 65%"):
            learn.made(check)

    def test_crops_in_python_must_have_the_bits_of_the_cpu(self):
        for same, status in ((True, "ok"), (False, "failed")):
            stand_in = self.root / "python"
            stand_in.write_text(f"#!{sys.executable} -IS\nprint('{json.dumps({'same bits': same})}')\n")
            stand_in.chmod(0o755)
            with unittest.mock.patch.object(sys, "executable", str(stand_in)):
                self.run_all(only=["device", "python device"])
            self.assertEqual(self.row("python device")["status"], status)
            self.forget()

    def test_cifar10_must_be_learnt_to_93_percent(self):
        check = self.check(cifar10=self.root)
        check.step = "accuracy"
        self.says(train=self.trained(val_accuracy=0.91))
        with self.assertRaisesRegex(Failed, "91.00% after 20 s; 93 % are wanted"):
            learn.cifar10(check)

    def test_no_device_ends_it(self):
        device = {"name": "cuda", "available": False, "reason": "no CUDA device was found"}
        self.says(list={"object": {"devices": [device]}})
        with self.assertRaisesRegex(NoDevice, "^no CUDA device was found"):
            self.run_all()
        self.assertFalse([line for line in self.place.asked() if line.startswith("train")])

    def test_the_budget_is_kept_and_a_later_call_does_the_rest_and_no_more(self):
        self.says(train=self.trained() | {"sleep": 600})
        began = time.monotonic()
        code, lines = self.run_all(left=lambda step: 1 if step.startswith("recorded") else 600)
        self.assertLess(time.monotonic() - began, 600)
        self.assertEqual((code, lines[-1]), (0, "No step failed."))
        self.assertTrue(any(line.startswith("left for --resume: recorded bf16 256: the minutes were")
                            for line in lines), lines)
        listed = [line for line in self.place.asked() if "list_tests" in line]
        self.says()
        code, lines = self.run_all(resume=True)
        self.assertEqual([line for line in self.place.asked() if "list_tests" in line], listed)
        self.assertFalse(any(line.startswith("left") for line in lines), lines)

    def test_a_failure_stands_until_it_has_been_repeated(self):
        failure = self.last_line(train=self.trained(loss=None))
        self.says(train=self.trained() | {"sleep": 600})
        for left in (lambda step: 0 if step else 600,  # not begun, then begun and cut
                     lambda step: 1 if step.startswith("recorded") else 600):
            code, lines = self.run_all(resume=True, left=left)
            self.assertEqual((code, lines[-1]), (1, failure))
        self.says()
        code, lines = self.run_all(resume=True)
        self.assertEqual((code, lines[-1]), (0, "No step failed."))

    def test_minutes_too_few_for_the_device_are_not_its_fault(self):
        code, lines = self.run_all(left=lambda step: 0)
        self.assertEqual((code, lines[-1]), (0, "No step failed."))
        self.assertEqual(self.row("device")["reason"], "the minutes were over")

    def test_what_failed_is_repeated_by_resume(self):
        self.last_line(train=self.trained(loss=None))
        self.says()
        code, lines = self.run_all(resume=True)
        self.assertEqual((code, lines[-1]), (0, "No step failed."))

    def test_a_step_that_hangs_is_cut(self):
        check = self.check()
        check.step = "hangs"
        self.says(load={"sleep": 600})
        with self.assertRaisesRegex(Cut, "took longer than 1 s; see hangs.log"):
            check.call([self.place.program, "load"], 1)
        check.budget.end = 0
        with self.assertRaisesRegex(Cut, "the minutes were over"):
            check.call([self.place.program, "load"], 1)

    def test_the_table_compares_with_the_best_of_the_others(self):
        row = {"network": "resnet50", "precision": "bf16", "batch": 8, "kind": "compute"}
        rates = {"feedrate": 3000, "pytorch": 500, "pytorch:compile": 1200}
        lines = summary.table([row | {"tool": tool, "images_per_second": rate}
                               for tool, rate in rates.items()])
        self.assertEqual(lines[2].split(),
                         ["resnet50", "bf16", "8", "compute", "3,000", "500", "1,200", "2.50"])


unittest.main(argv=sys.argv[:1] + sys.argv[2:])
