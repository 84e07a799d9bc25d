#!/usr/bin/env python3
"""The CPU trainer beside PyTorch, eager and compiled, in fp32 and in bf16.

`feedrate bench` measures each network by each tool on the same resident batches, in turns. What
OUT/peers.jsonl holds already is not measured again.
"""
import argparse
import json
import pathlib

from harness import made_archives, run

AIM = 1.3  # times PyTorch's better rate
TOOLS = ["feedrate", "pytorch", "pytorch:compile"]
PRECISIONS = ["fp32", "bf16"]
# Sources whose images a network was published for; the other networks read ImageNet's.
SOURCES = {"lenet": "mnist", "alexnet:cifar": "cifar10", "vgg16:cifar": "cifar10",
           "resnet56": "cifar10", "googlenet:cifar": "cifar10"}
IMAGES = {"mnist": 2048, "cifar10": 2048, "imagenet": 256}  # made ones; at least 16 batches


def dataset(feedrate, source, out):
    data = f"data/{source}"
    if not (out / data).exists():
        made = made_archives(feedrate, source, IMAGES[source], out)
        run(feedrate, "convert", source, made, "--to", "recordio", "--split", "train", "--out", out / data)
    return data


def measure(options, network, batch):
    source = SOURCES.get(network, "imagenet")
    plan = {"datasets": [dataset(options.feedrate, source, options.out)], "tools": TOOLS,
            "recipes": ["imagenet-train" if source == "imagenet" else "none"], "batches": [batch],
            "threads": [1], "networks": [network], "precisions": PRECISIONS,
            "repeat": options.rounds, "seconds": options.seconds,
            "exclude": [{"kind": ["supply", "delivered"]}]}
    if options.compute_threads:
        plan["compute_threads"] = options.compute_threads
    file = f"{network.replace(':', '-')}-{batch}.plan.json"
    (options.out / file).write_text(json.dumps(plan, indent=1))
    run(options.feedrate, "bench", "--plan", file, "--out", "peers.jsonl", "--resume",
        *(["--beside-others"] if options.beside_others else []), cwd=options.out)


def table(rows):
    """Images/s of each tool, and the factor over PyTorch's better one; also by processor time, which
    other programs disturb less, but in which threads that spin count as well."""
    points = {}
    for row in rows:
        if row["kind"] == "demand" and row["tool"] in TOOLS:
            points.setdefault((row["network"], row["batch"], row["precision"]), {})[row["tool"]] = row
    lines = ["| network | batch | precision | Feedrate | PyTorch | compiled | times the better "
             f"(aim {AIM}) | by processor time |", "|---|---|---|---|---|---|---|---|"]
    for key, tools in points.items():
        rates = [f"{tools[tool]['images_per_second']:,.4g}" if tool in tools else "–" for tool in TOOLS]
        by_clock = factor(tools, lambda row: row["images_per_second"])
        by_processor = factor(tools, lambda row: 1 / row["cpu_us"])
        missed = " missed" if by_clock and by_clock < AIM else ""
        cells = [*map(str, key), *rates, shown(by_clock) + missed, shown(by_processor)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def factor(tools, speed):
    theirs = [speed(tools[tool]) for tool in TOOLS[1:] if tool in tools]
    return speed(tools[TOOLS[0]]) / max(theirs) if theirs and TOOLS[0] in tools else None


def shown(value):
    return "–" if value is None else f"{value:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--feedrate", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4, help="of each measurement")
    parser.add_argument("--compute-threads", type=int, help="of every tool (default: every core)")
    parser.add_argument("--beside-others", action="store_true")
    parser.add_argument("networks", nargs="*", metavar="NETWORK,BATCH")
    options = parser.parse_args()
    options.feedrate, options.out = options.feedrate.resolve(), options.out.resolve()
    for word in options.networks:
        network, _, batch = word.partition(",")
        if not batch.isdecimal():
            parser.error(f"expected NETWORK,BATCH, found '{word}'")
        measure(options, network, int(batch))
    rows = [json.loads(line) for line in (options.out / "peers.jsonl").read_text().splitlines()]
    machine = rows[-1]["environment"]
    print(f"{machine['cpu']}, commit {machine['commit']}: images/s")
    print("\n".join(table(rows)))
    print("Where the aim is missed, `feedrate time NETWORK` shows which layers take the time.")


if __name__ == "__main__":
    main()
