"""The steps, in order of what they tell in a second, and how they are run one after the other."""

import contextlib
import sys
import traceback
from functools import partial

import data
import emulated
import fusions
import journal
import keep
import learn
import measure
import prove
import suites
from budget import OVER, Absent, Cut, Failed
from check import NoDevice
from guard import undisturbed


def resnet50(precision, batch, tools, **more):
    return partial(measure.rates, dataset="imagenet", networks=["resnet50"], batch=batch,
                   precision=precision, tools=tools, **more)


def without(batch):
    """Each fusion off in turn, beside a run with all of them."""
    yield fusions.step_name(batch), partial(fusions.fused, batch=batch)
    yield f"fused {batch} again", partial(fusions.again, batch=batch)
    for name in fusions.NAMES:
        yield fusions.step_name(batch, name), partial(fusions.without, batch=batch, name=name)


FIRST = {
    "device": prove.device,
    "versions": prove.versions,
    "images": data.images,
    "recorded bf16 256": prove.first,
    "compute bf16 256": resnet50("bf16", 256, ["feedrate"], kinds=["compute"]),
    "layers 256": partial(measure.layers, batch=256),
    "tests": suites.tests,
    "culprits": suites.culprits,
    **{f"{tool} bf16 256": resnet50("bf16", 256, [tool], kinds=["compute"])
       for tool in measure.PEERS[1:]},
    **dict(without(256)),
    **dict(without(8)),
    "nccl alone": prove.alone,
    **{f"{tool} decode": partial(prove.sanitizer, tool=tool, decode=True)
       for tool in ("memcheck", "racecheck", "synccheck")},
    **{f"{tool} training": partial(prove.sanitizer, tool=tool, decode=False)
       for tool in ("memcheck", "racecheck", "synccheck")},
    **{f"recorded {precision} 256": partial(prove.recorded, batch=256, precision=precision)
       for precision in ("fp16", "tf32")},
    "recorded fp32 64": partial(prove.recorded, batch=64, precision="fp32"),
    "encodings": data.encodings,
    **{name: partial(measure.rates, dataset=encoded, networks=["resnet50"], batch=256,
                     precision="bf16", tools=["feedrate"], threads=(8, 16), kinds=["delivered"],
                     decode=decode)
       for name, encoded, decode in (("delivered jpeg", "imagenet-jpeg", "full"),
                                     ("delivered packed", "imagenet-packed", "full"),
                                     ("delivered device", "imagenet-packed", "device"))},
    "python device": measure.python_device,
    "learning": learn.made,
}

REST = {
    "hidden cores": emulated.hidden_cores,
    "emulated beside real": emulated.beside_real,
    "planted limits": emulated.limits,
    "ceilings": prove.ceilings,
    "layers 8": partial(measure.layers, batch=8),
    "energy": measure.energy,
    "counters": measure.counters,
    "fused sums": measure.fused_norm_sums,
}
for precision, batch in [("bf16", 256), ("bf16", 8), ("tf32", 256), ("tf32", 8), ("bf16", 64)]:
    REST[f"resnet50 {precision} {batch}"] = resnet50(precision, batch, measure.PEERS)
# The comparison of 2018: five networks, on images of three sizes, at its batches.
CASES = [("mnist", ["lenet"], 64),
         ("cifar10", ["alexnet:cifar", "resnet50:cifar", "googlenet:cifar", "vgg16:cifar"], 128),
         ("imagenet", ["resnet50", "googlenet:caffe", "vgg16"], 8),
         ("imagenet", ["alexnet:caffe"], 128)]
for precision in ("tf32", "bf16", "fp32", "fp16"):
    for dataset, networks, batch in CASES:
        REST[f"nine {precision} {dataset} {batch}"] = partial(
            measure.rates, dataset=dataset, networks=networks, batch=batch, precision=precision,
            tools=measure.PEERS, kinds=["compute", "demand"])
for encoded, decode in [("jpeg", "full"), ("packed", "full"), ("packed", "device"), ("raw", "full")]:
    REST[f"threads {encoded} {decode}"] = partial(
        measure.rates, dataset=f"imagenet-{encoded}", networks=["resnet50"], batch=256,
        precision="bf16", tools=["feedrate"], threads=(1, 2, 4, 8, 16), decode=decode)
REST["accuracy"] = learn.cifar10

STEPS = FIRST | REST


def run_all(check):
    """Runs every step that is wanted and has not passed yet. Throws NoDevice."""
    done = {name for name, row in check.steps().items() if row["status"] == "ok"}
    if "tests" not in done:
        done.discard("culprits")
    left = [name for name in STEPS if name == "device" or (
        name not in done and name in (check.options.only or STEPS))]
    while left and (left[0] == "device" or check.budget.left() > 0):
        name = left.pop(0)
        run(check, name, STEPS[name])
    for name in left:
        check.write({"step": name, "status": "cut", "reason": OVER, "facts": {}})
    keep_all(check)


def run(check, name, step):
    began = check.budget.now()
    row = {"step": name, "status": "cut", "reason": "interrupted", "facts": {}}
    try:
        check.begin(name)
        row["facts"] = step(check)
        row |= {"status": "ok", "reason": None}
    except NoDevice as reason:
        row |= {"status": "failed", "reason": str(reason)}
        raise
    except Failed as reason:
        row |= {"status": "failed", "reason": str(reason), "facts": reason.facts}
    except Absent as reason:
        row |= {"status": "absent", "reason": str(reason)}
    except Cut as reason:
        row |= {"status": "cut", "reason": str(reason), "facts": reason.facts}
    except Exception as bug:  # whatever a program said that no step expected
        row |= {"status": "failed", "reason": f"{type(bug).__name__}: {bug}; the log has more"}
        journal.append(check.log(), traceback.format_exc())
    finally:
        with undisturbed():
            row |= {"seconds": round(check.budget.now() - began, 1), "warnings": check.warnings,
                    "ended": round(check.budget.since_start(), 1)}
            check.write(row)
            keep_all(check)
            tell(row)


def keep_all(check):
    try:
        keep.all_files(check)
    except Exception as problem:  # a summary that cannot be drawn must not end the check
        print(f"gpu_check: nothing is kept: {problem}", file=sys.stderr)


def tell(row):
    told = f": {row['reason'][:200]}" if row["reason"] else ""
    with contextlib.suppress(OSError):  # whoever read it has gone; --keep goes on
        print(f"{row['ended']:6.0f} s  {row['step']}: {row['status']}{told}", flush=True)
