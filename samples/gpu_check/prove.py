"""Tier 1: does the CUDA backend work on this GPU?"""

import importlib.metadata
import json
import math
import sys

import place
from budget import Absent, Failed
from check import NoDevice

PRECISIONS = ["bf16", "tf32", "fp16", "fp32"]
# Every operator, and residual blocks: what compute-sanitizer, which is slow, looks at.
LOOKED_AT = ("Cuda/CudaParity.every_operator_in_every_shape/real:"
             "Cuda/CudaPrecision.residual_blocks_with_norms_follow_fp32_for_five_steps/real")
CLOCKS = ["name", "driver_version", "memory.total", "power.limit", "clocks.sm", "clocks.max.sm",
          "clocks.max.mem", "temperature.gpu", "power.draw", "clocks_throttle_reasons.active"]


def device(check):
    """Stops the whole check where no GPU can be used."""
    missing = [name for name, found in place.libraries().items()
               if found is None and place.LIBRARIES[name]]
    try:
        rows = check.feedrate("list", "devices")["devices"]
    except Failed as reason:
        raise NoDevice(f"the program cannot say which there are: {reason}") from reason
    cuda = next(row for row in rows if row["name"] == "cuda")
    if not cuda["available"]:
        absent = f" (looked for {', '.join(missing)} in the nvidia-* wheels of {sys.executable} and " \
                 "in the toolkit)" if missing else ""
        raise NoDevice(cuda["reason"] + absent)
    return {"device": cuda["device"]}


def versions(check):
    facts = {"libraries": place.libraries(), "python": sys.version.split()[0]}
    facts["feedrate"] = check.call([check.place.program, "--version"], 20).output.splitlines()
    smi, nvcc = place.tool("nvidia-smi"), place.tool("nvcc")
    if smi:
        said = check.call([smi, f"--query-gpu={','.join(CLOCKS)}", "--format=csv,noheader"], 20)
        values = said.output.strip().split("\n")[0].split(", ")
        facts |= dict(zip(CLOCKS, values)) if said.code == 0 else {"nvidia-smi": said.last_words()}
    if nvcc:
        facts["nvcc"] = check.call([nvcc, "--version"], 20).last_words()
    for name in ("torch", "numpy", "pillow"):  # what the comparison with PyTorch needs
        try:
            facts[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            facts[name] = None
    return facts


def ceilings(check):
    """What the device can do at most: a copy, and products in each precision."""
    facts = {}
    for precision in PRECISIONS:
        roof = check.feedrate("time", "mlp", "--device", "cuda", "--precision", precision,
                              "--batch", 64, "--seconds", 0.1)["roof"]
        facts[f"{precision} tflops"] = round(roof["gflops_per_second"] / 1e3, 1)
        facts["copy gb_per_second"] = roof["gb_per_second"]
    return facts


def tests(check):
    """Every test of CUDA. A test that is skipped has proven nothing, so it has failed."""
    report = check.out / "tests.json"
    report.unlink(missing_ok=True)
    done = check.call([check.place.tests, "--gtest_filter=Cuda/*", "--gtest_brief=1",
                       f"--gtest_output=json:{report}"], 240, "tests", FEEDRATE_EXPECT_GPU="1")
    if not report.exists():
        raise Failed(f"ended without a report: {done.last_words()}")
    return judge(json.loads(report.read_text()), done.code)


def judge(report, code):
    ran = [(f"{suite['name']}.{test['name']}", test)
           for suite in report["testsuites"] for test in suite["testsuite"]]
    if not ran:
        raise Failed("there is no test Cuda/* in test_trainer")
    failures = [f"{name}: {test['failures'][0]['failure'].splitlines()[-1].strip()}"
                for name, test in ran if test.get("failures")]
    failures += [f"{name}: skipped" for name, test in ran
                 if not test.get("failures") and test["result"] != "COMPLETED"]
    if failures:
        raise Failed(f"{len(failures)} of {len(ran)} tests: " + "; ".join(failures))
    if code != 0:
        raise Failed(f"all {len(ran)} tests passed, but the exit code is {code}")
    return {"tests": len(ran)}


def sanitizer(check, tool):
    program = place.tool("compute-sanitizer")
    if not program:
        raise Absent("compute-sanitizer is neither on the PATH nor in the toolkit")
    done = check.call([program, "--tool", tool, "--error-exitcode", 99, check.place.tests,
                       f"--gtest_filter={LOOKED_AT}", "--gtest_brief=1"], 180, "tests",
                      FEEDRATE_EXPECT_GPU="1")
    summary = [line.strip("= ") for line in done.output.splitlines() if "SUMMARY" in line]
    if done.code != 0:
        raise Failed(summary[-1] if summary else done.last_words())
    return {"said": summary[-1] if summary else "nothing"}


def recorded(check, network, dataset, batch, precision):
    """A few steps: recorded as one CUDA graph, without a warning, with a finite loss. They also fill
    the cache of algorithms, so that the measurements that follow need not choose."""
    said = check.feedrate("train", check.dataset(dataset), "--network", network, "--batch", batch,
                          "--device", "cuda", "--precision", precision, "--resident", "--no-upload",
                          "--steps", 20)
    if said["steps_recorded"] is not True:
        raise Failed(f"steps of {network} in {precision} at batch {batch} run kernel by kernel")
    if said["loss"] is None or not math.isfinite(said["loss"]):
        raise Failed(f"the loss of {network} in {precision} at batch {batch} is not finite")
    # Whatever the program tells about its engines.
    return {key: said[key] for key in said if "engine" in key or "workspace" in key}
