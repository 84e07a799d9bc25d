"""Rates beside PyTorch's, energy, and the time of each layer and kernel.

Rates come from `feedrate bench`, which writes each row when it is measured and leaves out what it
has measured before."""

import csv
import json
import os
import pathlib
import sys

import decode_in_python
import fused_sums
import place
from budget import Absent, Failed

PEERS = ["feedrate", "pytorch", "pytorch:cuda-graph", "pytorch:compile"]
KINDS = ["compute", "delivered", "demand", "supply"]  # in order of worth
LOADER_THREADS = min(8, len(os.sched_getaffinity(0)))


def rates(check, dataset, networks, batch, precision, tools, threads=(LOADER_THREADS,), kinds=KINDS,
          decode="full"):
    """The rates of each tool, one after the other. What cannot run does not stop the rest."""
    recipe = "none" if dataset in ("mnist", "cifar10") else "imagenet-train"
    plan = {"datasets": [str(check.dataset(dataset))], "recipes": [recipe], "decodes": [decode],
            "batches": [batch], "threads": list(threads), "networks": networks, "devices": ["cuda"],
            "precisions": [precision], "repeat": 1, "seconds": 2}
    failed, absent = {}, {}
    for kind in kinds:
        for tool in tools:
            # pytorch:compile and pytorch:cuda-graph use pytorch's loader: their supply would be the same.
            if tool in absent or (kind == "supply" and ":" in tool):
                continue
            others = [other for other in KINDS if other != kind]
            file = check.log(f"{check.step} {tool} {kind}").with_suffix(".plan.json")
            file.write_text(json.dumps(plan | {"tools": [tool], "exclude": [{"kind": others}]},
                                       indent=1))
            done = check.call([check.place.program, "bench", "--plan", file, "--out", check.results,
                               "--resume"], 90 + 90 * len(networks) + 20 * len(threads))
            if done.code != 0 and tool == "feedrate":
                failed[kind] = done.last_words()
            elif done.code != 0:
                absent[tool] = done.last_words()
    if failed:
        raise Failed("; ".join(f"{kind}: {reason}" for kind, reason in failed.items()))
    if absent:
        raise Absent("; ".join(f"{tool}: {reason}" for tool, reason in absent.items()))
    return {}


def python_device(check):
    """Crops that a script in Python gets in the GPU's memory, beside the CPU's bits and nvJPEG's rate."""
    packed = check.dataset("imagenet-packed")
    archive = check.out / "archives" / "imagenet" / "ILSVRC2012_img_train.tar"
    facts = script(check, decode_in_python, [packed, archive, 256, 2], 90,
                   PYTHONPATH=str(check.place.package))
    if not facts["same bits"]:
        raise Failed("the GPU's crops are not the CPU's", facts)
    return facts


def fused_norm_sums(check):
    """What convolutions that find the sums of norms cost; none is used."""
    return script(check, fused_sums, [256, 100], 150)


def script(check, module, words, seconds, **environment):
    """What a script of this folder prints."""
    done = check.call([sys.executable, pathlib.Path(module.__file__), *words], seconds, **environment)
    if done.code == module.ABSENT:
        raise Absent(done.last_words())
    if done.code != 0:
        raise Failed(done.last_words())
    return json.loads(done.output)


def energy(check):
    """Twenty seconds of ResNet-50, long enough for the power to settle."""
    said = check.feedrate("train", check.dataset("imagenet"), "--network", "resnet50", "--batch", 256,
                          "--device", "cuda", "--precision", "bf16", "--resident", "--no-upload",
                          "--seconds", 20)
    facts = {key: said[key] for key in ("images_per_second", "gpu_power_w", "gpu_energy_j",
                                        "gpu_clock_mhz", "gpu_throttle", "gpu_memory_mib")}
    if said["gpu_energy_j"]:
        facts["joules an image"] = round(said["gpu_energy_j"] / said["images"], 4)
    return facts


def layers(check, batch):
    said = check.feedrate("time", "resnet50", "--batch", batch, "--device", "cuda", "--precision",
                          "bf16", "--seconds", 3)
    (check.out / f"layers-{batch}.json").write_text(json.dumps(said, indent=1))
    return {"step_ms": said["step_ms"]} | {
        f"{one['op']} ms": round((one["forward_ms"] or 0) + (one["backward_ms"] or 0), 3)
        for one in said["by_operator"] if one["share"]}


def counters(check):
    """Each kernel of a step under ncu: its time, and the bytes that it moves. ncu leaves the clocks
    as they are, so that times are those of the other steps."""
    ncu = place.tool("ncu")
    if not ncu:
        raise Absent("ncu is neither on the PATH nor in the toolkit")
    metrics = ["gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum"]
    file = check.out / "logs" / "ncu.csv"
    # The first step runs kernel by kernel; one more is recorded, but not run.
    done = check.call([ncu, "--clock-control", "none", "--csv", "--page", "raw", "--print-units",
                       "base", "--metrics", ",".join(metrics), "--log-file", file,
                       check.place.program, "train", check.dataset("imagenet"), "--network",
                       "resnet50", "--batch", 64, "--device", "cuda", "--precision", "bf16",
                       "--resident", "--no-upload", "--steps", 1], 240)
    text = file.read_text() if file.exists() else ""
    if "ERR_NVGPUCTRPERM" in text + done.output:
        raise Absent("ncu may not read the counters here (ERR_NVGPUCTRPERM)")
    if done.code != 0:
        raise Failed(done.last_words())
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = [row for row in csv.DictReader(lines) if row.get("ID", "").isdigit()]
    if not rows:
        raise Failed(f"{file.name} holds no kernel")
    total = {name: sum(number(row.get(name)) for row in rows) for name in metrics}
    return {"kernels": len(rows), "ms": round(total[metrics[0]] / 1e6, 3),
            "mb an image": round((total[metrics[1]] + total[metrics[2]]) / 1e6 / 64, 1)}


def number(text):
    """0 for a counter that ncu could not read ("n/a")."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return 0.0
