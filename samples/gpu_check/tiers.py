"""The steps, in order of worth, and how they are run one after the other."""

import time
from functools import partial

import measure
import prove
from budget import Absent, Cut, Failed
from check import NoDevice

COMPILE_LAST = [measure.PEERS, measure.COMPILED]  # it takes a minute to compile a network

PROOF = {
    "device": prove.device,
    "versions": prove.versions,
    "tests": prove.tests,
    "images": measure.images,
    **{f"recorded {p}": partial(prove.recorded, network="resnet50", dataset="imagenet", batch=8,
                                precision=p) for p in prove.PRECISIONS},
    "ceilings": prove.ceilings,
    "memcheck": partial(prove.sanitizer, tool="memcheck"),
    "racecheck": partial(prove.sanitizer, tool="racecheck"),
}

RESNET50 = {}
for tools in COMPILE_LAST:
    for precision, batch in [("bf16", 256), ("bf16", 8), ("tf32", 256), ("tf32", 8), ("bf16", 64)]:
        one = f"resnet50 {precision} {batch}"
        if tools is measure.PEERS:
            RESNET50[f"recorded {one}"] = partial(prove.recorded, network="resnet50", batch=batch,
                                                  dataset="imagenet", precision=precision)
        RESNET50[one if tools is measure.PEERS else f"{one} compiled"] = partial(
            measure.rates, dataset="imagenet", networks=["resnet50"], batch=batch,
            precision=precision, tools=tools)

# The comparison of 2018: five networks, on images of three sizes, at its batches.
CASES = [("mnist", ["lenet"], 64),
         ("cifar10", ["alexnet:cifar", "resnet50:cifar", "googlenet:cifar", "vgg16:cifar"], 128),
         ("imagenet", ["resnet50", "googlenet:caffe", "vgg16"], 8),
         ("imagenet", ["alexnet:caffe"], 128)]
NINE = {}
for precisions in (["tf32", "bf16"], ["fp32", "fp16"]):
    for tools in COMPILE_LAST:
        for precision in precisions:
            for dataset, networks, batch in CASES:
                name = f"nine {precision} {dataset} {batch}"
                NINE[name if tools is measure.PEERS else f"{name} compiled"] = partial(
                    measure.rates, dataset=dataset, networks=networks, batch=batch,
                    precision=precision, tools=tools, kinds=["compute", "demand"])

REST = {
    "energy": measure.energy,
    "layers 256": partial(measure.layers, batch=256),
    "layers 8": partial(measure.layers, batch=8),
    "encodings": measure.encodings,
    "threads": partial(measure.rates, networks=["resnet50"], batch=256, precision="bf16",
                       dataset=["imagenet-jpeg", "imagenet-packed", "imagenet-raw"],
                       tools=["feedrate"], threads=(1, 2, 4, 8, 16), decodes=("full", "device")),
    "accuracy": measure.accuracy,
    "counters": measure.counters,
}

TIERS = [PROOF, RESNET50, NINE, REST]


def run_all(check):
    """Runs every step of the tiers that are wanted and not done yet. Throws NoDevice."""
    done = {name for name, row in check.steps().items() if row["status"] in ("ok", "failed")}
    for number, tier in enumerate(TIERS[:check.options.tiers], 1):
        for name, step in tier.items():
            if name not in done or name == "device":
                run(check, number, name, step)


def run(check, tier, name, step):
    check.step = name
    began = time.monotonic()
    row = {"step": name, "tier": tier, "status": "ok", "reason": None, "facts": {}}
    try:
        row["facts"] = step(check)
    except NoDevice as reason:
        row |= {"status": "failed", "reason": str(reason)}
        raise
    except Failed as reason:
        row |= {"status": "failed", "reason": str(reason)}
    except Absent as reason:
        row |= {"status": "absent", "reason": str(reason)}
    except Cut:
        row |= {"status": "cut", "reason": "the minutes were over"}
    finally:
        row["seconds"] = round(time.monotonic() - began, 1)
        check.keep(row)
        told = f": {row['reason']}" if row["reason"] else ""
        if row["status"] != "cut" or row["seconds"] > 1:
            print(f"{row['seconds']:7.1f} s  {name}: {row['status']}{told}", flush=True)
