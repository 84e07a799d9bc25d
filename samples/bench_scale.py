#!/usr/bin/env python3
"""How time and memory grow with the number of images: the slopes in ARCHITECTURE.md.

    samples/bench_scale.py path/to/feedrate [--images 10000,100000,1000000] [--repeat 3] [--jsonl FILE]

Makes small images (28 x 28, PNG, about 270 bytes), converts them in one go and in four parts that are joined, and loads
each dataset once. Memory is the largest anonymous memory of the process (RssAnon): mapped files do not count. Time is
processor time, which other processes of a shared machine disturb least; of all repeats the least one counts. Fits
value = start + slope x images by least squares of relative errors, and says how far the points are from the line.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time


def anonymous_memory(pid):
    """In bytes; 0 once the process has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def measured(*words):
    """Runs a command: seconds of processor time, seconds that passed, and the largest anonymous memory in bytes."""
    start = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    memory = 0
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        memory = max(memory, anonymous_memory(process.pid))
        time.sleep(0.002)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)}: exit code {process.returncode}")
    return {"cpu_s": used.ru_utime + used.ru_stime, "wall_s": time.monotonic() - start, "anon_bytes": memory}


def least(rows):
    """Of several runs of one command: the least of each."""
    return {key: min(row[key] for row in rows) for key in rows[0]}


def line_through(points):
    """start, slope and the largest relative distance of a point, for (images, value) with relative weights."""
    weights = [1 / value**2 for _, value in points]
    total = sum(weights)
    mean_x = sum(w * x for w, (x, _) in zip(weights, points)) / total
    mean_y = sum(w * y for w, (_, y) in zip(weights, points)) / total
    above = sum(w * (x - mean_x) * (y - mean_y) for w, (x, y) in zip(weights, points))
    below = sum(w * (x - mean_x) ** 2 for w, (x, _) in zip(weights, points))
    slope = above / below
    start = mean_y - slope * mean_x
    return start, slope, max(abs(start + slope * x - y) / y for x, y in points)


def run_one(feedrate, images, repeat, work):
    """Every step with that many images."""
    archives, out, parts = (str(work / name) for name in ("archives", "whole", "parts"))
    subprocess.run([feedrate, "synth", "mnist", "--images", str(images), "--out", archives], check=True)
    shared = ["convert", "mnist", archives, "--to", "recordio", "--encode", "png", "--shards", "16", "--threads", "2"]
    rows = {"convert": [], "join": [], "load": []}
    for _ in range(repeat):
        shutil.rmtree(out, ignore_errors=True)
        shutil.rmtree(parts, ignore_errors=True)
        rows["convert"].append(measured(feedrate, *shared, "--out", out))
        for part in range(1, 5):
            measured(feedrate, *shared, "--part", f"{part}/4", "--out", parts)
        rows["join"].append(measured(feedrate, "convert", "--join", parts))
        rows["load"].append(measured(feedrate, "load", out, "--threads", "1", "--no-digest"))
    return {step: least(runs) for step, runs in rows.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("feedrate")
    parser.add_argument("--images", default="10000,100000,1000000")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--jsonl", type=pathlib.Path)
    options = parser.parse_args()
    sizes = [int(images) for images in options.images.split(",")]
    if len(set(sizes)) < 2:
        parser.error("--images: a line needs two sizes or more")
    table = []
    for images in sizes:
        with tempfile.TemporaryDirectory() as work:
            for step, least_of in run_one(options.feedrate, images, options.repeat, pathlib.Path(work)).items():
                table.append({"step": step, "images": images, **least_of})
                print(json.dumps(table[-1]), flush=True)
    if options.jsonl:
        options.jsonl.write_text("".join(json.dumps(row) + "\n" for row in table), encoding="ascii")
    for step in ("convert", "join", "load"):
        for key, unit, factor in (("cpu_s", "µs", 1e6), ("anon_bytes", "bytes", 1)):
            start, slope, off = line_through([(row["images"], row[key]) for row in table if row["step"] == step])
            print(f"{step:8} {key:10} {start:14.3f} + {slope * factor:8.3f} {unit} an image; "
                  f"points within {100 * off:.1f} %")


if __name__ == "__main__":
    main()
