#!/usr/bin/env python3
"""Converts a dataset on a Dask cluster: each task makes one part, and then one task joins them.

    python samples/cluster/convert_dask.py imagenet ILSVRC2012_img_train.tar --to webdataset --shards 1024 \\
        --out data/imagenet --parts 64

Archives and output must lie where all workers see them, and each needs Feedrate's Python package.
DASK_SCHEDULER_ADDRESS says where the cluster is; without it, Dask starts one on this machine. If a worker dies, Dask
makes its parts again. After any other failure, run the same line again: parts that are whole are kept.
"""

import argparse
import os

from dask.distributed import Client, as_completed


def make(number, job):
    import feedrate

    # A worker runs as many tasks at once as it has threads: one thread for each part.
    options = {**job["options"], "part": f"{number}/{job['parts']}", "threads": 1, "resume": True}
    part = feedrate.convert(job["source"], *job["archives"], **options)["splits"][0]
    return f"{part['path']}: {part['samples']} images"


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
    with Client(os.environ.get("DASK_SCHEDULER_ADDRESS"), dashboard_address=None) as client:
        # pure: a call with the same arguments may be one that is to be made again.
        making = client.map(make, range(1, given.parts + 1), job=job, pure=False)
        for _, done in as_completed(making, with_results=True):
            print(done, flush=True)
        print(client.submit(join, given.out, pure=False).result(), end="")


if __name__ == "__main__":
    main()
