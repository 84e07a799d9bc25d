"""Made-up programs and a made-up clock for tests of samples/gpu_check."""

import argparse
import contextlib
import copy
import io
import json
import pathlib
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(SOURCE / "samples/gpu_check"))
sys.dont_write_bytecode = True

import budget
import check
import place
import steps
import suites
import summary

# Stands for the program and its tests. says.json has what it says, by its first argument, and what each
# test does: passes, fails, skips, crashes, hangs, or poisons its process, where all later ones fail.
PROGRAM = """#!{python} -IS
import json, os, pathlib, sys, time
here, words = pathlib.Path(__file__).parent, sys.argv[1:]
with (here / "asked").open("a") as log:
    log.write(" ".join(words) + " | " + os.environ.get("FEEDRATE_UNFUSED", "") + "\\n")
said = json.loads((here / "says.json").read_text())
tests = said["tests"]
if "--gtest_list_tests" in words:
    for suite in dict.fromkeys(name.split(".")[0] for name in tests):
        print("Running main() from somewhere\\n" + suite + ".")
        for name in tests:
            if name.split(".")[0] == suite:
                print("  " + name.split(".")[1] + "  # GetParam() = real")
    sys.exit()
if words[0].startswith("--gtest_filter="):
    report, poisoned, failures = {{}}, False, 0
    for name in words[0][15:].split(":"):
        does, _, without = tests.get(name, "passes").partition(" unless ")
        if without and without in os.environ.get("FEEDRATE_UNFUSED", ""):
            does = "passes"
        if does == "fails in company":
            does = "fails" if ":" in words[0] else "passes"
        print("[ RUN      ] " + name, flush=True)
        if does == "crashes":
            os.abort()
        if does == "hangs":
            time.sleep(600)
        poisoned |= does == "poisons"
        suite, test = name.split(".")
        row = {{"name": test, "result": "SKIPPED" if does == "skips" else "COMPLETED", "time": "0.1s"}}
        if does == "passes":
            row["closest"] = "0.5 of what is allowed: loss at step 1"
        if does == "fails" or poisoned:
            row["failures"] = [{{"failure": "file.cpp:3\\nfound 3, allowed 2", "type": ""}}]
            failures += 1
        print("[  FAILED  ] " if row.get("failures") else "[       OK ] ", name, " (1 ms)", sep="")
        report.setdefault(suite, []).append(row)
    for word in words:
        if word.startswith("--gtest_output=json:"):
            pathlib.Path(word[20:]).write_text(json.dumps({{"testsuites": [
                {{"name": suite, "testsuite": rows}} for suite, rows in report.items()]}}))
    sys.exit(failures > 0)
says = said.get(words[0], {{}})
for unfused, instead in says.get("without", {{}}).items():
    if unfused == os.environ.get("FEEDRATE_UNFUSED"):
        says = instead
if words[0] in ("synth", "convert"):
    pathlib.Path(words[words.index("--out") + 1]).mkdir(parents=True, exist_ok=True)
time.sleep(says.get("sleep", 0))
if "garbage" in says:
    sys.stdout.buffer.write(bytes(says["garbage"]))
else:
    print(json.dumps(says.get("object", {{}})))
print(says.get("errors", ""), file=sys.stderr)
sys.exit(says.get("code", 0))
"""

TRAINED = {
    "steps_recorded": True, "loss": 6.9, "loss_bits": "0x1.b9999ap+2", "early_kernels": True, "early_kernels_off": None,
    "weight_branch": True, "weight_branch_off": None, "images": 5120, "images_per_second": 256.0,
    "engines": [{"node": f"conv{i}", "name": "62", "fallback": None, "milliseconds": 0.1}
                for i in range(158)],
    "seconds": 20.0, "stall_percent": 0.1, "val_accuracy": 0.934, "gpu_power_w": 600.0,
    "gpu_energy_j": 12000.0, "gpu_clock_mhz": 1700, "gpu_throttle": "none", "gpu_memory_mib": 900.0}
ALL_WELL = {
    "tests": {f"Cuda/CudaSuite{i % 7}.test{i}/real": "passes" for i in range(100)},
    "list": {"object": {"devices": [{"name": "cuda", "available": True, "device": "made-up GPU",
                                     "reason": None}]}},
    "time": {"object": {"roof": {"gflops_per_second": 9e5, "gb_per_second": 3000}, "step_ms": 9.0,
                        "by_operator": [{"op": "conv", "forward_ms": 2.0, "backward_ms": 4.5,
                                         "share": 0.7}]}},
    "train": {"object": TRAINED}}
PYTHON_DEVICE = {"same bits": True, "images_per_second": 5000}


class Place:
    def __init__(self, root):
        self.root, self.program, self.tests = root, root / "feedrate", root / "test_trainer"
        self.package = root / "python"
        for program in (self.program, self.tests):
            program.write_text(PROGRAM.format(python=sys.executable))
            program.chmod(0o755)
        place.tool = lambda name: None

    def says(self, what):
        (self.root / "says.json").write_text(json.dumps(what))

    def asked(self):
        file = self.root / "asked"
        return file.read_text().splitlines() if file.exists() else []

    def environment(self, kind):
        return {}


def options(root, **more):
    return argparse.Namespace(**{"minutes": 60.0, "resume": False, "kept": None, "only": None,
                                 "cifar10": None, "keep": root / "keep", "cache": None,
                                 "out": root / "out"} | more)


FEW = ["device", "images", "recorded bf16 256", "tests", "culprits"]


def tests(**does):
    return {f"Cuda/{name.replace('__', '.')}/real": what for name, what in does.items()}


class Case(unittest.TestCase):
    """A made-up device, and a check of it in a folder of its own."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.place = Place(self.root)
        self.addCleanup(self.restore, {name: getattr(suites, name) for name in (
            "PROCESS_SECONDS", "ALONE_SECONDS", "STEP_SECONDS", "CULPRIT_SECONDS")})
        self.says()

    def restore(self, limits):
        for name, limit in limits.items():
            setattr(suites, name, limit)

    def says(self, **changes):
        self.place.says(copy.deepcopy(ALL_WELL) | {"tests": tests(A__good="passes")} | changes)

    def trained(self, **changes):
        return {"object": TRAINED | changes}

    def program(self, name, text):
        (self.root / name).write_text(text.format(python=sys.executable))
        (self.root / name).chmod(0o755)
        others = place.tool
        place.tool = lambda asked: self.root / name if asked == name else others(asked)

    def check(self, **more):
        return check.Check(self.place, options(self.root, **more))

    def run_all(self, only=FEW, left=None, **more):
        """The exit code and the lines of the summary. `left`: seconds of the budget, by the step."""
        checked = self.check(only=only, **more)
        if left:
            checked.budget.left = lambda: left(checked.step)
        with contextlib.redirect_stdout(io.StringIO()):
            steps.run_all(checked)
            code = summary.write(checked)
        return code, (checked.out / "summary.txt").read_text().splitlines()

    def row(self, step):
        lines = (self.root / "out/steps.jsonl").read_text().splitlines()
        return [row for row in map(json.loads, lines) if row["step"] == step][-1]

    def last_line(self, **changes):
        self.says(**changes)
        code, lines = self.run_all()
        self.assertEqual(code, 1)
        return lines[-1]

    def forget(self):
        """All rows so far."""
        (self.root / "out/steps.jsonl").unlink()
        (self.root / "out/tests.json").unlink(missing_ok=True)


class Simulated(budget.Budget):
    """A budget whose commands take the seconds that `device` says, and no time. A device answers
    `seconds(words)` and `says(words)`, the output."""

    def __init__(self, minutes, device):
        self.clock, self.device = 0.0, device
        super().__init__(minutes)

    def now(self):
        return self.clock

    def execute(self, words, environment, seconds):
        took = self.device.seconds(words)
        self.clock += min(took, seconds)
        if took > seconds:
            return True, -15, "", ""
        return False, 0, self.device.says(words), ""

    def together(self, jobs, at_once):
        """Each job on the worker that is free first."""
        free, results = [self.clock] * at_once, []
        for job in jobs:
            worker = free.index(min(free))
            self.clock = free[worker]
            results.append(job())
            free[worker] = self.clock
        self.clock = max(free)
        return results
