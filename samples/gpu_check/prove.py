"""Does the CUDA backend work on this GPU? The device, its versions and its limits, and steps that are
recorded."""

import importlib.metadata
import math
import re
import sys

import place
from budget import OVER, Absent, Cut, Failed
from check import NoDevice

PRECISIONS = ["bf16", "tf32", "fp16", "fp32"]
FACTS = ["name", "driver_version", "memory.total", "power.limit", "clocks.sm", "clocks.max.sm",
         "clocks.max.mem", "temperature.gpu", "power.draw", "clocks_event_reasons.active",
         "pcie.link.gen.current", "pcie.link.width.current", "pcie.link.gen.max",
         "pcie.link.width.max"]


def device(check):
    """Stops the whole check where no GPU can be used."""
    missing = [name for name, found in place.libraries().items()
               if found is None and place.LIBRARIES[name]]
    try:
        rows = check.feedrate("list", "devices", limit=60)["devices"]
    except (Failed, Cut) as reason:
        if str(reason) == OVER:
            raise
        raise NoDevice(f"the program cannot say which there are: {reason}") from reason
    cuda = next((row for row in rows if row["name"] == "cuda"), None)
    if cuda is None:
        raise NoDevice("this build has no CUDA backend")
    if not cuda["available"]:
        absent = f" (looked for {', '.join(missing)} in the nvidia-* wheels of {sys.executable} and " \
                 "in the toolkit)" if missing else ""
        raise NoDevice(cuda["reason"] + absent)
    return {"device": cuda["device"]}


def versions(check):
    """What may explain a rate later. All that the tools say is in the log."""
    facts = {"libraries": place.libraries(), "python": sys.version.split()[0]}
    facts["feedrate"] = check.call([check.place.program, "--version"], 20).output.splitlines()
    smi, nvcc = place.tool("nvidia-smi"), place.tool("nvcc")
    if smi:
        facts |= told_by(check, smi)
        check.call([smi, "-q"], 20)
    if nvcc:
        facts["nvcc"] = check.call([nvcc, "--version"], 20).last_words()
    for words in (["lscpu"], ["free", "-g"]):
        if place.tool(words[0]):
            check.call([place.tool(words[0]), *words[1:]], 20)
    for name in ("torch", "numpy", "pillow"):  # what the comparison with PyTorch needs
        try:
            facts[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            facts[name] = None
    return facts


def told_by(check, smi):
    """Each fact that this driver knows."""
    def ask(names):
        return check.call([smi, f"--query-gpu={','.join(names)}", "--format=csv,noheader"], 20)
    said = ask(FACTS)
    if said.code == 0:
        return dict(zip(FACTS, said.output.strip().split("\n")[0].split(", ")))
    each = {name: ask([name]) for name in FACTS}
    return {name: one.output.strip().split("\n")[0] for name, one in each.items() if one.code == 0} \
        or {"nvidia-smi": said.last_words()}


def ceilings(check):
    """What the device can do at most: a copy, and products in each precision."""
    facts = {}
    for precision in PRECISIONS:
        roof = check.feedrate("time", "mlp", "--device", "cuda", "--precision", precision,
                              "--batch", 64, "--seconds", 0.1)["roof"]
        if roof is None:
            raise Failed(f"no roof was measured in {precision}", facts)
        facts[f"{precision} tflops"] = round(roof["gflops_per_second"] / 1e3, 1)
        facts["copy gb_per_second"] = roof["gb_per_second"]
    return facts


def resident(check, network, dataset, batch, precision, *more, **environment):
    """Steps on batches that stay on the device: no loader, no copy."""
    return check.feedrate("train", check.dataset(dataset), "--network", network, "--batch", batch,
                          "--device", "cuda", "--precision", precision, "--resident", "--no-upload",
                          *more, **environment)


def recorded(check, batch, precision, network="resnet50", dataset="imagenet", **environment):
    """A few steps: recorded as one CUDA graph, with a finite loss. They also fill the cache of
    algorithms, so that the measurements that follow need not choose."""
    said = resident(check, network, dataset, batch, precision, "--steps", 20, **environment)
    facts = {key: said[key] for key in ("images_per_second", "early_kernels", "early_kernels_off",
                                        "weight_branch", "weight_branch_off") if said.get(key)}
    # Each of the engines is in the log.
    engines = said.get("engines") or []
    facts |= {"engines": len(engines),
              "fallbacks": sum(1 for engine in engines if engine.get("fallback")),
              "measured": sum(1 for engine in engines if engine.get("milliseconds"))}
    what = f"{network} in {precision} at batch {batch}"
    if said["steps_recorded"] is not True:
        raise Failed(f"steps of {what} run kernel by kernel", facts)
    if "cannot be recorded" in (said.get("early_kernels_off") or ""):
        raise Failed(f"early kernels of {what}: {said['early_kernels_off']}", facts)
    if said["loss"] is None or not math.isfinite(said["loss"]):
        raise Failed(f"the loss of {what} is not finite", facts)
    return facts


def first(check):
    """The first of them also tells which libraries the process really loads."""
    listed = check.out / "loaded"
    facts = recorded(check, 256, "bf16", LD_DEBUG="files", LD_DEBUG_OUTPUT=str(listed))
    paths = set()
    for file in check.out.glob("loaded.*"):
        paths |= set(re.findall(r"calling init: (\S+)", file.read_text(errors="replace")))
        file.unlink()
    check.log("mapped libraries").write_text("\n".join(sorted(paths)) + "\n")
    wanted = [path for path in sorted(paths) if re.search(r"libcudnn\.so|libcublasLt\.so|libcuda\.so", path)]
    return facts | {"loaded": wanted}


def alone(check):
    """NCCL with one rank: it is loaded, recorded in the step and ended."""
    facts = recorded(check, 64, "bf16", "resnet56", "cifar10", FEEDRATE_NCCL_ALONE="1")
    return {key: facts[key] for key in ("images_per_second",) if key in facts}


def sanitizer(check, tool, decode):
    """Only our own kernels, whose mangled names hold the namespace: cuDNN's take minutes, and are not
    ours to mend. Under racecheck cuDNN's engines for 16 bits fail on a Hopper GPU; in fp32 all run."""
    program = place.tool("compute-sanitizer")
    if not program:
        raise Absent("compute-sanitizer is neither on the PATH nor in the toolkit")
    words = [program, "--tool", tool, "--kernel-name", "kns=feedrate", "--error-exitcode", 99]
    if tool == "memcheck":
        words += ["--report-api-errors", "no"]  # libraries ask for what may not exist
    if decode:
        done = check.call([*words, check.place.tests, "--gtest_filter=Cuda/CudaDecode.*"], 60, "tests",
                          FEEDRATE_EXPECT_GPU="1")
    else:
        done = check.call([*words, check.place.program, "train", check.dataset("cifar10"), "--network",
                           "resnet56", "--batch", 16, "--device", "cuda", "--precision",
                           "fp32" if tool == "racecheck" else "bf16", "--resident", "--no-upload",
                           "--steps", 4], 90)
    lines = [line.strip("= ") for line in done.output.splitlines()]
    # The summary of a sanitizer that crashes counts the crash as an error of the program.
    crashes = [line for line in lines if "Internal Sanitizer Error" in line]
    if crashes:
        raise Failed(f"{tool} did not get to the end: {crashes[0]}")
    said = [line for line in lines if "SUMMARY" in line]
    if done.code != 0:
        raise Failed(said[-1] if said and done.code == 99 else done.last_words())
    return {"said": said[-1] if said else "nothing"}
