"""Tiers 2 to 4: rates beside PyTorch's, training to an accuracy, energy, the time of each layer.

Rates come from `feedrate bench`, which writes each row when it is measured and leaves out what it
has measured before."""

import csv
import json
import os

import place
from budget import Absent, Failed

PEERS = ["feedrate", "pytorch", "pytorch:cuda-graph"]
COMPILED = ["pytorch:compile"]
KINDS = ["supply", "demand", "compute", "delivered"]
LOADER_THREADS = min(8, len(os.sched_getaffinity(0)))
IMAGES = {"mnist": 12800, "cifar10": 12800, "imagenet": 2048}  # made ones


def images(check):
    """The datasets: made images, as many as the largest resident batches need."""
    for source, count in IMAGES.items():
        made, data = check.out / "archives" / source, check.out / "data"
        if not made.exists():
            call(check, "synth", source, "--images", count, "--out", made)
        data.mkdir(exist_ok=True)
        if not (data / source).exists():
            call(check, "convert", source, made, "--to", "recordio", "--split", "train", "--out",
                 data / source)
    return {source: count for source, count in IMAGES.items()}


def encodings(check):
    """The photographs as LMDBs of JPEGs, of JPEGs without Huffman codes, and of pixels."""
    for name, options in {"jpeg": [], "packed": ["--encode", "packed"],
                          "raw": ["--encode", "raw"]}.items():
        out = check.out / "data" / f"imagenet-{name}"
        if not out.exists():
            call(check, "convert", "dataset", check.dataset("imagenet"), "--to", "lmdb", *options,
                 "--out", out)
    return {}


def call(check, *words):
    done = check.call([check.place.program, *words], 120)
    if done.code != 0:
        raise Failed(done.last_words())


def rates(check, dataset, networks, batch, precision, tools, threads=(LOADER_THREADS,), kinds=KINDS,
          decodes=("full",)):
    """The rates of each tool, one after the other. A tool that cannot run does not stop the others."""
    datasets = [dataset] if isinstance(dataset, str) else dataset
    recipe = {"mnist": "none", "cifar10": "none"}.get(datasets[0], "imagenet-train")
    plan = {"datasets": [str(check.dataset(name)) for name in datasets], "recipes": [recipe],
            "decodes": list(decodes), "batches": [batch], "threads": list(threads),
            "networks": networks, "devices": ["cuda"],
            "precisions": [precision], "repeat": 1, "seconds": 2}
    if kinds != KINDS:
        plan["exclude"] = [{"kind": [kind for kind in KINDS if kind not in kinds]}]
    absent = {}
    for tool in tools:
        file = check.out / "logs" / f"{check.step} {tool}.plan.json".replace(" ", "-")
        file.write_text(json.dumps(plan | {"tools": [tool]}, indent=1))
        done = check.call([check.place.program, "bench", "--plan", file, "--out", check.results,
                           "--resume"], 300)
        if done.code != 0 and tool == "feedrate":
            raise Failed(done.last_words())
        if done.code != 0:
            absent[tool] = done.last_words()
    if absent:
        raise Absent("; ".join(f"{tool}: {reason}" for tool, reason in absent.items()))
    return {}


def accuracy(check):
    """CIFAR-10 to 93 %, which needs the real images."""
    if not check.options.cifar10:
        raise Absent("--cifar10 names no folder with CIFAR-10's archive")
    data = check.out / "data" / "real-cifar10"
    if not data.exists():
        call(check, "convert", "cifar10", check.options.cifar10, "--to", "lmdb", "--split", "all",
             "--out", data)
    said = check.feedrate("train", data / "train", "--val", data / "test", "--preset",
                          "resnet56-modern", "--device", "cuda", "--precision", "bf16", "--threads",
                          LOADER_THREADS, "--log", check.out / "cifar10.jsonl", limit=540)
    facts = {key: said[key] for key in ("val_accuracy", "seconds", "images_per_second",
                                        "stall_percent", "gpu_energy_j")}
    if said["val_accuracy"] < 0.93:
        raise Failed(f"{said['val_accuracy']:.2%} after {said['seconds']:.0f} s; 93 % are wanted")
    return facts


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
        f"{one['op']} ms": round(one["forward_ms"] + one["backward_ms"], 3)
        for one in said["by_operator"] if one["share"]}


def counters(check):
    """Each kernel of a step under ncu: its time, and the bytes that it moves."""
    ncu = place.tool("ncu")
    if not ncu:
        raise Absent("ncu is neither on the PATH nor in the toolkit")
    metrics = ["gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum"]
    file = check.out / "ncu.csv"
    # The first step runs kernel by kernel; one more is recorded, but not run.
    done = check.call([ncu, "--csv", "--page", "raw", "--print-units", "base", "--metrics",
                       ",".join(metrics), "--log-file", file, check.place.program, "train",
                       check.dataset("imagenet"), "--network", "resnet50", "--batch", 64, "--device",
                       "cuda", "--precision", "bf16", "--resident", "--no-upload", "--steps", 1], 240)
    text = file.read_text() if file.exists() else ""
    if "ERR_NVGPUCTRPERM" in text + done.output:
        raise Absent("ncu may not read the counters here (ERR_NVGPUCTRPERM)")
    if done.code != 0:
        raise Failed(done.last_words())
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = [row for row in csv.DictReader(lines) if row.get("ID", "").isdigit()]
    if not rows:
        raise Failed(f"{file.name} holds no kernel")
    total = {name: sum(float(row[name].replace(",", "")) for row in rows) for name in metrics}
    return {"kernels": len(rows), "ms": round(total[metrics[0]] / 1e6, 3),
            "mb an image": round((total[metrics[1]] + total[metrics[2]]) / 1e6 / 64, 1)}
