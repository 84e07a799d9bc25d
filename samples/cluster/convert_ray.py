#!/usr/bin/env python3
"""Converts a dataset on a Ray cluster: each task makes one part, and then one task joins them.

    python samples/cluster/convert_ray.py imagenet ILSVRC2012_img_train.tar --to webdataset --shards 1024 \\
        --out data/imagenet --parts 64

Archives and output must lie where all nodes see them, and each needs Feedrate's Python package. RAY_ADDRESS says where
the cluster is; without it, Ray starts one on this machine. If a worker or a node dies, Ray makes its part again. After
any other failure, run the same line again: parts that are whole are kept.
"""

import argparse
import os

import ray

THREADS = 1  # of each part; the cluster has a processor for each


# Ray retries a task whose process died, not one that raised: an error of the data would only come again.
@ray.remote(num_cpus=THREADS, max_retries=3)
def make(job, number):
    import feedrate

    options = {**job["options"], "part": f"{number}/{job['parts']}", "threads": THREADS, "resume": True}
    part = feedrate.convert(job["source"], *job["archives"], **options)["splits"][0]
    return f"{part['path']}: {part['samples']} images"


@ray.remote(num_cpus=1, max_retries=0)
def join(out):
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-m", "feedrate", "convert", "--join", out], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source")
    parser.add_argument("archives", nargs="+", type=os.path.abspath)
    parser.add_argument("--to", required=True)
    parser.add_argument("--out", required=True, type=os.path.abspath)
    parser.add_argument("--shards", required=True, type=int)
    parser.add_argument("--parts", required=True, type=int, help="at most as many as shards")
    parser.add_argument("--encode")
    return parser.parse_args()


def main():
    given = parsed()
    if os.path.exists(given.out):
        print(f"{given.out}: whole already")
        return
    options = {"to": given.to, "out": given.out, "shards": given.shards, "encode": given.encode}
    job = {"source": given.source, "archives": given.archives, "options": options, "parts": given.parts}
    ray.init(log_to_driver=False)
    waiting = [make.remote(job, number) for number in range(1, given.parts + 1)]
    while waiting:
        done, waiting = ray.wait(waiting)
        print(*ray.get(done), sep="\n", flush=True)
    print(ray.get(join.remote(given.out)), end="")


if __name__ == "__main__":
    main()
