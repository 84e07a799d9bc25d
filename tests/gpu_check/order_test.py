#!/usr/bin/env python3
"""The order of samples/gpu_check.sh and its budget, on a made-up device and with a made-up clock.

    order_test.py SOURCE_DIRECTORY [--table]     --table prints the table of samples/gpu_check/README.md"""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

import made_up

import place
import steps
import summary
from check import Check

# Estimates for an H100 with a cold file cache: a program that loads CUDA's libraries the first time, one
# that finds them in memory, a test, and so on.
COLD, WARM, TEST = 8, 3, 3
PYTORCH = {"pytorch": 20, "pytorch:cuda-graph": 25, "pytorch:compile": 70}
SUITES = {"CudaParity": 27, "CudaDecode": 8, "CudaPrecision": 7, "CudaLossScale": 6, "CudaTimer": 4,
          "CudaFusion": 3, "CudaLoad": 2}


class Device:
    def __init__(self):
        self.loaded, self.chosen = False, set()

    def seconds(self, words):
        name = pathlib.Path(words[0]).name
        text = " ".join(words)
        if name == "test_trainer":
            return WARM + (0 if "--gtest_list_tests" in words else TEST * len(words[1].split(":")))
        if name in ("nvidia-smi", "nvcc", "lscpu", "free"):
            return 1
        if name == "compute-sanitizer":
            return 25 if "CudaDecode" in text else 40
        if name == "ncu":
            return 120
        if name.startswith("python"):
            return PYTORCH["pytorch"]
        if words[1] == "list":
            return COLD
        if words[1] in ("synth", "convert"):
            return 3
        if words[1] == "--version":
            return 0.5
        if words[1] == "time":
            return WARM + (12 if "resnet50" in words else 2)
        if words[1] == "bench":
            plan = json.loads(pathlib.Path(words[words.index("--plan") + 1]).read_text())
            start = PYTORCH.get(plan["tools"][0], WARM + 3)
            return len(plan["networks"]) * (start + 2) * (
                len(plan["threads"]) if "compute" in plan["exclude"][0]["kind"] else 1)
        if words[1] == "train":
            took = WARM + 3
            if "--seconds" in words:
                took += 20
            if "--epochs" in words:
                took += 8 if "cuda" in words else 40
            key = [words[words.index(option) + 1] for option in ("--network", "--batch", "--precision")]
            if str(key) not in self.chosen:  # it measures engines
                self.chosen.add(str(key))
                took += 16 if "resnet50" in words else 4
            return took
        return 10

    def says(self, words):
        if pathlib.Path(words[0]).name == "test_trainer":
            if "--gtest_list_tests" in words:
                return "".join(f"Cuda/{suite}.\n" + "".join(f"  test{i}/real\n" for i in range(count))
                               for suite, count in SUITES.items())
            names = words[1].partition("=")[2].split(":")
            report = next(word for word in words if word.startswith("--gtest_output"))[20:]
            pathlib.Path(report).write_text(json.dumps({"testsuites": [
                {"name": name.split(".")[0], "testsuite": [
                    {"name": name.split(".")[1], "result": "COMPLETED"}]} for name in names]}))
            return ""
        if pathlib.Path(words[0]).name.startswith("python"):
            return json.dumps(made_up.PYTHON_DEVICE)
        if words[1] in ("synth", "convert"):
            pathlib.Path(words[words.index("--out") + 1]).mkdir(parents=True, exist_ok=True)
        return json.dumps(made_up.ALL_WELL.get(words[1], {}).get("object", {}))


def simulated(root, minutes=9, **more):
    """The rows of a call, by step."""
    made_up_place = made_up.Place(root)
    made_up_place.says(made_up.ALL_WELL)
    place.tool = lambda name: name if name in ("nvidia-smi", "nvcc", "compute-sanitizer") else None
    check = Check(made_up_place, made_up.options(root, minutes=minutes, **more),
                  made_up.Simulated(minutes, Device()))
    with contextlib.redirect_stdout(io.StringIO()):
        steps.run_all(check)
        summary.write(check)
    return check.steps()


def table():
    with tempfile.TemporaryDirectory() as directory:
        rows = simulated(pathlib.Path(directory), minutes=60)
    lines = ["| step | seconds | ends at |", "|---|---:|---:|"]
    lines += [f"| `{name}` | {rows[name]['seconds']:.0f} | {rows[name]['ended']:.0f} |"
              for name in steps.FIRST]
    return "\n".join(lines) + "\n"


class Order(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)

    def test_what_tells_most_comes_first(self):
        rows = simulated(self.root)
        ended = {name: row["ended"] for name, row in rows.items() if row["status"] == "ok"}
        self.assertLessEqual(ended["compute bf16 256"], 50)
        self.assertLessEqual(rows["tests"]["seconds"], 100)
        self.assertEqual(rows["tests"]["facts"], {"tests": 57, "passed": 57})
        wanted = ["compute bf16 256", "layers 256", "tests", "pytorch bf16 256", "fused 256",
                  "without early-kernels 8", "memcheck decode"]
        self.assertEqual(wanted, sorted(wanted, key=lambda name: ended[name]))
        self.assertLessEqual(ended["memcheck decode"], 400)

    def test_a_call_ends_in_time_and_the_next_one_goes_on_elsewhere(self):
        rows = simulated(self.root, minutes=9)
        last = max(row.get("ended", 0) for row in rows.values())
        self.assertLessEqual(last, 9 * 60)
        left = [name for name, row in rows.items() if row["status"] == "cut"]
        self.assertIn("learning", left)
        self.assertTrue(all(rows[name]["reason"] == "the minutes were over" for name in left))
        self.assertEqual(set(rows), set(steps.STEPS))
        kept = self.root / "brought home"
        (self.root / "keep").rename(kept)
        elsewhere = self.root / "another machine"
        elsewhere.mkdir()
        later = simulated(elsewhere, minutes=9, kept=kept)
        self.assertEqual(later["learning"]["status"], "ok")
        again = [name for name in rows if later[name]["time"] != rows[name]["time"]
                 and rows[name]["status"] == "ok"]
        self.assertLessEqual(set(again), {"device"})
        later = simulated(elsewhere, minutes=600, resume=True)
        self.assertFalse([name for name, row in later.items() if row["status"] == "cut"])

    def test_a_program_that_takes_too_long_costs_its_limit_and_no_more(self):
        slow = Device.seconds
        try:
            Device.seconds = lambda self, words: 1e9 if words[1] == "time" else slow(self, words)
            rows = simulated(self.root)
        finally:
            Device.seconds = slow
        self.assertEqual(rows["layers 256"]["status"], "cut")
        self.assertEqual(rows["layers 256"]["reason"], "took longer than 120 s; see layers-256.log")
        self.assertEqual(rows["tests"]["status"], "ok")

    def test_the_page_has_this_table(self):
        page = (made_up.SOURCE / "samples/gpu_check/README.md").read_text()
        self.assertIn(table(), page)


if __name__ == "__main__":
    if "--table" in sys.argv:
        print(table(), end="")
    else:
        unittest.main(argv=sys.argv[:1])
