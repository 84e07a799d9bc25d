"""How far an emulated device stands for one that is there, and few cores for many.

- hidden_cores(): the supply of all cores, predicted from half of them.
- beside_real(): delivered rates to the GPU, and to one that is emulated at its own measured rate, in turns.
- limits(): what is planted as the limit of an emulated device has to be named.

The first and the last need no GPU: samples/bench_emulated.py runs them anywhere."""

import contextlib
import json
import math
import os
import statistics
from functools import partial

import planted
from budget import Absent, Failed
from journal import append
from summary import measured

RECIPE = "imagenet-train"
BATCH = 256
# Made photographs as RecordIO and LMDB of JPEGs, and as LMDBs of packed ones and of pixels, with the
# recipe and the batch.
CASES = {name: (RECIPE, BATCH)
         for name in ("imagenet", "imagenet-jpeg", "imagenet-packed", "imagenet-raw")}
ROUNDS = 3
SECONDS = 0.8
# A step fails where rates are off by more, in percent: those of all cores in the median (the range of cores
# has to hold each), and those beside a real device at the most.
MAX_MEDIAN, MAX_BESIDE_REAL = 5, 3


def load(check, name, threads, *more, recipe=RECIPE, batch=BATCH, seconds=SECONDS):
    """The words of a `feedrate load`."""
    length = () if "--epochs" in more else ("--seconds", seconds)
    return ["load", check.dataset(name), "--recipe", recipe, "--batch", batch, "--threads", threads,
            *length, "--no-digest", *more]


def supply(check, name, threads, **more):
    return check.feedrate(*load(check, name, threads, **more))["images_per_second"]


def load_average():
    return f"{os.getloadavg()[0]:.1f}"


def by_affinity(cores):
    """Whole cores, which the program hides: what it needs for that, and the words that ask for it."""
    return contextlib.nullcontext(), ["--cores", cores]


def by_quota(cores):
    return planted.quota(cores), []


def hidden_cores(check, cases=CASES, rounds=ROUNDS, seconds=SECONDS, hide=by_affinity):
    """By dataset: what half of the cores supply, what all do, how far the first foretells it, and whether the
    cores that the report tells for it, as a range, have all of them among them."""
    every = len(os.sched_getaffinity(0))
    few = every // 2
    if few == 0:
        raise Absent("this machine has one core, so none can be hidden")
    for name in cases:
        check.dataset(name)
    rows = {name: {"few": [], "all": []} for name in cases}
    for _ in range(rounds):  # few and all take turns
        for name, (recipe, batch) in cases.items():
            def supplies(threads, *more):
                words = ["bench", check.dataset(name), "--recipe", recipe, "--batch", batch, "--threads", threads,
                         "--repeat", 1, "--seconds", seconds, "--json", *more]
                return [json.loads(line) for line in check.run(*words).output.splitlines()]

            plant, words = hide(few)
            with plant:
                rows[name]["few"] += supplies(f"1,{few}" if few > 1 else "1", *words)
            rows[name]["all"] += supplies(every)
    facts = {"cores": every, "of them seen": few, "load average": load_average()}
    for name, found in rows.items():
        facts[name] = foretold(check, every, found["few"], found["all"])
    missed = [name for name in cases if not facts[name]["in range"]]
    facts |= summary({name: facts[name]["error %"] for name in cases})
    if missed:
        raise Failed(f"the range of cores misses those that there are: {', '.join(missed)}", facts)
    if facts["median error %"] > MAX_MEDIAN:
        raise Failed(f"predictions are off by {facts['median error %']} % in the median; wanted: "
                     f"{MAX_MEDIAN}", facts)
    return facts


def foretold(check, every, few, all_rows):
    """What the report tells of devices that take what all cores supply, from rows that saw few of them."""
    rates = [row["images_per_second"] for row in all_rows]
    wanted = {"slowest": min(rates), "median": statistics.median(rates), "fastest": max(rates)}
    file = check.log().with_suffix(".hidden.jsonl")
    file.write_text("".join(json.dumps(row) + "\n" for row in few + [
        takes(few[0], name, rate) for name, rate in wanted.items()]))
    studies = json.loads(check.run("report", file, "--json").output)["studies"]
    needs = {study["device"]: study["needs"][0] for study in studies if study["needs"]}
    need = needs["emulated median"]
    most = needs["emulated fastest"]["most_cores"]
    seen = statistics.median(row["images_per_second"] for row in few
                             if row["threads"] == need["measured_threads"])
    error = every / need["unrounded_cores"] - 1  # an image costs as much on all
    return {"seen": round(seen), "predicted": round(wanted["median"] * (1 + error)),
            "measured": round(wanted["median"]), "error %": round(100 * error, 1),
            "cores": [needs["emulated slowest"]["fewest_cores"], need["cores"], most],
            "kernel %": need["kernel_percent"],
            "in range": needs["emulated slowest"]["fewest_cores"] <= every and (most is None or every <= most)}


def takes(supply, name, rate):
    """A row of an emulated device that takes so many images/s, beside one of supply."""
    row = {key: value for key, value in supply.items() if key != "kernel_us"}
    row |= dict.fromkeys(("threads", "workers_seen", "read_us", "decode_us", "augment_us", "cpu_us"))
    return row | {"kind": "demand", "network": "resnet50", "device": f"emulated {name}", "emulates": name,
                  "emulated_rate": rate, "images_per_second": rate, "repeats": [rate]}


def summary(errors):
    off = [abs(error) for error in errors.values()]
    return {"median error %": round(statistics.median(off), 1), "worst error %": max(off),
            "worst": max(errors, key=lambda name: abs(errors[name]))}


def beside_real(check, dataset="imagenet-jpeg", threads=(1, 2, 4, 8), seconds=2, rounds=1, **changes):
    """Images/s delivered to both, by loader threads, and how far the emulated one is off, medians of rounds.
    Each round measures the device's own rate anew: where it drifts, the emulated one follows. `changes` are
    keys of the plan: another device, network, …"""
    plan = {"datasets": [str(check.dataset(dataset))], "recipes": [RECIPE], "batches": [BATCH],
            "networks": ["resnet50"], "devices": ["cuda"], "precisions": ["bf16"],
            "threads": list(threads), "repeat": 1, "seconds": seconds,
            "exclude": [{"kind": ["supply", "compute", "demand"]}]} | changes
    found = [one_round(check, plan) for _ in range(rounds)]
    facts = {"own rate": round(statistics.median(own for own, _ in found)),
             "load average": load_average()}
    errors = {}
    for count in threads:
        rates = [rate[count] for _, rate in found]
        error = statistics.median(one["emulated"] / one["real"] for one in rates) - 1
        errors[f"{count} threads"] = round(100 * error, 1)
        facts[f"{count} threads"] = {kind: round(statistics.median(one[kind] for one in rates))
                                     for kind in ("real", "emulated")}
        facts[f"{count} threads"]["error %"] = errors[f"{count} threads"]
    facts |= summary(errors)
    if facts["worst error %"] > MAX_BESIDE_REAL:
        raise Failed(f"rates are off by {facts['median error %']} % in the median and by "
                     f"{facts['worst error %']} % at the most ({facts['worst']}); wanted: "
                     f"{MAX_BESIDE_REAL}", facts)
    return facts


def one_round(check, plan):
    """The device's own rate, and by threads what it and an emulated one of that rate get."""
    of_device = [word for key in ("network", "device", "precision", "recipe")
                 for word in (f"--{key}", plan[f"{key}s"][0])]
    if "compute_threads" in plan:
        of_device += ["--compute-threads", plan["compute_threads"]]
    own = check.feedrate("train", plan["datasets"][0], *of_device, "--batch", plan["batches"][0],
                         "--resident", "--no-upload", "--seconds", plan["seconds"])["images_per_second"]
    file = check.log().with_suffix(".plan.json")
    file.write_text(json.dumps(plan | {"emulated": [f"{own:.1f}"]}, indent=1))
    results = file.with_suffix(".jsonl")
    results.unlink(missing_ok=True)
    check.run("bench", "--plan", file, "--out", results, limit=40 + 16 * len(plan["threads"]))
    rates = {}
    for row in measured(results):
        kind = "emulated" if row.get("emulates") else "real"
        rates.setdefault(row["threads"], {})[kind] = row["images_per_second"]
    append(check.results, results.read_text())
    return own, rates


# What the verdict of `feedrate load` has to say, by what was planted.
NAMES = {"few threads": "Decoding is the limit", "few cores": "Decoding is the limit", "a quota": "Decoding is the limit",
         "slow storage": "Reading is the limit", "nothing": "enough"}


def limits(check, runs=20, jpeg="imagenet-jpeg", raw="imagenet-raw", batch=16, seconds=SECONDS):
    """As many runs, each with something else planted in turn; the limit is named in how many of them.
    What cannot be planted here is left out, with the reason."""
    facts, ways, absent = {}, {}, {}
    for name, plant in plants(check, jpeg, raw, batch, seconds).items():
        try:
            ways[name] = plant()
        except Absent as reason:
            absent[name] = str(reason)
    wrong = []
    for run in range(runs):
        name = list(ways)[run % len(ways)]
        said = ways[name]()
        facts.setdefault(name, [0, 0])[1] += 1
        if NAMES[name] in said:
            facts[name][0] += 1
        else:
            wrong.append(f"{name}: {said}")
    right = sum(one[0] for one in facts.values())
    facts = {name: f"{found} of {all_of}" for name, (found, all_of) in facts.items()}
    facts |= {"named": f"{right} of {runs}", "load average": load_average()}
    facts |= {f"{name} is not planted": reason for name, reason in absent.items()}
    if wrong:
        raise Failed(f"{runs - right} of {runs} limits were not named: {'; '.join(wrong[:5])}", facts)
    return facts


def plants(check, jpeg, raw, batch, seconds):
    """By name, a function that prepares a plant and returns one that plants it, measures and says the
    verdict."""
    options = {"batch": batch, "seconds": seconds}

    def verdict(name, threads, rate, *more):
        said = check.run(*load(check, name, threads, "--emulate", f"{rate:.1f}", *more, **options)).output
        return next((line.strip() for line in said.splitlines() if " is the limit" in line or " enough" in line), said)

    every, few = len(os.sched_getaffinity(0)), planted.some_of(0.25)
    single = supply(check, jpeg, 1, **options)

    def few_threads():
        if every < 2:
            raise Absent("this machine has one core")
        return lambda: verdict(jpeg, 1, 4 * single)

    def few_cores():
        if len(few) == every:
            raise Absent("this machine has one core")

        def run():
            with planted.on(few):
                return verdict(jpeg, len(few), 4 * len(few) * single)
        return run

    def a_quota():
        cores = every / 4

        def run():
            with planted.quota(cores):
                return verdict(jpeg, math.ceil(cores), 4 * cores * single)
        with planted.quota(cores):  # whether it can be
            pass
        return run

    def slow_storage():
        cold = ("--cold", "--epochs", 1)
        warm = supply(check, raw, every, **options)

        def from_disk(disk):
            with disk():
                said = check.feedrate(*load(check, raw, every, *cold, **options))
            if said["in_memory"] > 0.1:
                raise Absent("the page cache keeps what it was told to drop")
            return said["images_per_second"], said["bytes_read"] / said["images"]

        disk = contextlib.nullcontext
        rate, size = from_disk(disk)
        if rate > warm / 2:  # then it is made slow
            disk = partial(planted.slow_disk, check.dataset(raw), int(size * warm / 8))
            rate, size = from_disk(disk)
        if rate > warm / 2:
            raise Absent(f"storage gives {rate:.0f} images/s, the loader takes {warm:.0f}")

        def run():
            with disk():
                return verdict(raw, every, (rate * warm) ** 0.5, *cold)
        return run

    def nothing():
        threads = max(1, every // 2)
        rate = supply(check, jpeg, threads, **options) / 3
        return lambda: verdict(jpeg, threads, rate)

    return {"few threads": few_threads, "few cores": few_cores, "a quota": a_quota,
            "slow storage": slow_storage, "nothing": nothing}
