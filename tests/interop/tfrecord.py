#!/usr/bin/env python3
"""TFRecords against TensorFlow itself: it reads what Feedrate writes, and the other way round.

    tfrecord.py FEEDRATE        needs tensorflow (or tensorflow-cpu) and numpy

Pixels and labels are compared by the content digest: SHA-256 over the SHA-256 of each sample's
label, shape and pixels, computed here from what TensorFlow decoded.
"""
import io
import os
import pathlib
import struct
import subprocess
import sys
import tarfile
import tempfile

sys.path[0] += "/support"  # instead of this directory, whose modules would shadow packages

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # or TensorFlow logs about it
import numpy as np
import tensorflow as tf
from program import FEEDRATE, digest_of, equal, feedrate, pixels_first, stop, verified

WNIDS = ["n01440764", "n01443537", "n01484850"]  # the first of the thousand, labels 1, 2, 3

IMAGENET = {
    "image/height": tf.io.FixedLenFeature([1], tf.int64),
    "image/width": tf.io.FixedLenFeature([1], tf.int64),
    "image/colorspace": tf.io.FixedLenFeature([], tf.string),
    "image/channels": tf.io.FixedLenFeature([1], tf.int64),
    "image/class/label": tf.io.FixedLenFeature([1], tf.int64),
    "image/class/synset": tf.io.FixedLenFeature([], tf.string),
    "image/class/text": tf.io.FixedLenFeature([], tf.string),
    "image/object/bbox/xmin": tf.io.VarLenFeature(tf.float32),
    "image/object/bbox/xmax": tf.io.VarLenFeature(tf.float32),
    "image/object/bbox/ymin": tf.io.VarLenFeature(tf.float32),
    "image/object/bbox/ymax": tf.io.VarLenFeature(tf.float32),
    "image/object/bbox/label": tf.io.VarLenFeature(tf.int64),
    "image/format": tf.io.FixedLenFeature([], tf.string),
    "image/filename": tf.io.FixedLenFeature([], tf.string),
    "image/encoded": tf.io.FixedLenFeature([], tf.string),
}
SLIM = {
    "image/encoded": tf.io.FixedLenFeature([], tf.string),
    "image/format": tf.io.FixedLenFeature([], tf.string),
    "image/class/label": tf.io.FixedLenFeature([], tf.int64),
    "image/height": tf.io.FixedLenFeature([], tf.int64),
    "image/width": tf.io.FixedLenFeature([], tf.int64),
}


def refused(path, sentence):
    done = subprocess.run([FEEDRATE, "verify", str(path)], capture_output=True, text=True)
    expect(done.returncode == 1 and sentence in done.stderr, f"{path}: said {done.stderr!r}")


def expect(condition, message):
    if not condition:
        stop(message)


def read(files, schema, compression=""):
    """Parsed records of the files, in order, from TensorFlow's own reader."""
    data = tf.data.TFRecordDataset([str(file) for file in files], compression_type=compression)
    for record in data:
        yield {key: value for key, value in tf.io.parse_single_example(record, schema).items()}


def check_slim(work):
    """MNIST: our records with slim's keys, plain and gzip, one shard and several."""
    feedrate("synth", "mnist", "--images", 600, "--out", work / "archives", "--seed", 7)
    digests = set()
    for name, options, compression in [("one", [], ""), ("four", ["--shards", "4"], ""),
                                       ("gzip", ["--shards", "3", "--gzip"], "GZIP")]:
        out = work / f"slim-{name}"
        feedrate("convert", "mnist", work / "archives", "--to", "tfrecord", "--out", out, *options)
        files = sorted(file for file in out.glob("train-*-of-*") if file.suffix != ".idx")
        samples = []
        for example in read(files, SLIM, compression):
            pixels = tf.io.decode_png(example["image/encoded"]).numpy()
            equal(example["image/format"].numpy(), b"png", "image/format")
            equal((int(example["image/height"]), int(example["image/width"])), pixels.shape[:2],
                  "height and width")
            samples.append((int(example["image/class/label"]), pixels))
        equal(digest_of(pixels_first(samples)), verified(out), f"digest of {out.name}")
        digests.add(verified(out))
        if not compression:
            check_index(files)
    equal(len(digests), 1, "digests of one dataset in different shards")
    return 600


def check_index(files):
    """The .idx that DALI's tfrecord2idx would make."""
    for file in files:
        lines, at, data = [], 0, file.read_bytes()
        while at < len(data):
            length = struct.unpack_from("<Q", data, at)[0] + 16
            lines.append(f"{at} {length}\n")
            at += length
        equal(pathlib.Path(f"{file}.idx").read_text(), "".join(lines), f"index of {file.name}")


BOXES = """<annotation><filename>{name}</filename><size><width>100</width><height>50</height></size>
<object><name>{wnid}</name>
<bndbox><xmin>25</xmin><ymin>10</ymin><xmax>75</xmax><ymax>50</ymax></bndbox>
</object></annotation>"""


def make_imagenet(work):
    """The published packaging: a tar of a tar for each class; boxes for the first image of each."""
    random = np.random.default_rng(3)
    images = {}
    (work / "boxes").mkdir()
    with tarfile.open(work / "ILSVRC2012_img_train.tar", "w") as outer:
        for wnid in WNIDS:
            inner = io.BytesIO()
            with tarfile.open(fileobj=inner, mode="w") as tar:
                for number in range(5):
                    name = f"{wnid}_{number}.JPEG"
                    pixels = random.integers(0, 256, (24 + number, 31, 3), np.uint8)
                    images[name] = tf.io.encode_jpeg(pixels).numpy()
                    add_entry(tar, name, images[name])
            add_entry(outer, f"{wnid}.tar", inner.getvalue())
            (work / "boxes" / f"{wnid}_0.xml").write_text(BOXES.format(name=f"{wnid}_0", wnid=wnid))
    return images


def add_entry(tar, name, content):
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    tar.addfile(entry, io.BytesIO(content))


def check_imagenet(work):
    """ImageNet's packaging: our records with the keys of build_imagenet_data and unchanged files."""
    images = make_imagenet(work)
    out = work / "imagenet"
    feedrate("convert", "imagenet", work / "ILSVRC2012_img_train.tar", "--boxes", work / "boxes",
             "--to", "tfrecord", "--encode", "keep", "--shards", 2, "--split", "train",
             "--out", out)
    seen = {}
    for example in read(sorted(out.glob("train-?????-of-00002")), IMAGENET):
        name = example["image/filename"].numpy().decode()
        label = int(example["image/class/label"][0])
        equal(name.split("_")[0], WNIDS[label - 1], f"label of {name}, counted from 1,")
        equal(example["image/class/synset"].numpy().decode(), WNIDS[label - 1], "synset")
        equal(example["image/colorspace"].numpy(), b"RGB", "colorspace")
        equal(int(example["image/channels"][0]), 3, "channels")
        equal(example["image/format"].numpy(), b"JPEG", "format")
        boxed = name.endswith("_0.JPEG")
        for side, value in [("xmin", 0.25), ("ymin", 0.2), ("xmax", 0.75), ("ymax", 1.0)]:
            found = example[f"image/object/bbox/{side}"].values.numpy()
            expected = [value] if boxed else []
            expect(np.allclose(found, expected, atol=1e-6), f"{side} of {name}: {found}")
        labels = example["image/object/bbox/label"].values.numpy().tolist()
        equal(labels, [label] if boxed else [], f"labels of the boxes of {name}")
        shape = tf.io.decode_jpeg(images[name]).shape
        equal((int(example["image/height"][0]), int(example["image/width"][0])),
              (shape[0], shape[1]), f"height and width of {name}")
        seen[name] = example["image/encoded"].numpy()
    equal(seen, images, "encoded bytes by file name")
    verified(out)
    check_index(sorted(out.glob("train-?????-of-00002")))
    return len(seen)


def feature(value):
    if isinstance(value, bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    if value and isinstance(value[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=value))


def written_by_tensorflow(file, examples, compression=""):
    file.parent.mkdir(exist_ok=True)
    with tf.io.TFRecordWriter(str(file), compression) as writer:
        for example in examples:
            features = {key: feature(value) for key, value in example.items()}
            message = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(message.SerializeToString())


def check_reading(work):
    """We read records that TensorFlow wrote, in every layout and compression."""
    random = np.random.default_rng(5)
    samples = [(int(random.integers(0, 3)), random.integers(0, 256, (9 + i, 7, 3), np.uint8))
               for i in range(20)]
    imagenet = [{"image/encoded": tf.io.encode_png(pixels).numpy(), "image/format": b"PNG",
                 "image/class/label": [label + 1], "image/class/synset": WNIDS[label].encode(),
                 "image/object/bbox/xmin": [0.25], "image/object/bbox/xmax": [0.75],
                 "image/object/bbox/ymin": [0.0], "image/object/bbox/ymax": [1.0],
                 "image/filename": f"{i}.JPEG".encode()}
                for i, (label, pixels) in enumerate(samples)]
    raw = [{"image_raw": pixels.tobytes(), "height": [pixels.shape[0]], "width": [7],
            "depth": [3], "label": [label]} for label, pixels in samples]
    for name, examples in [("imagenet", imagenet), ("raw", raw)]:
        for compression in ["", "GZIP"]:
            out = work / f"tensorflow-{name}{compression}"
            for shard in range(2):
                written_by_tensorflow(out / f"train-{shard:05}-of-00002",
                                      examples[10 * shard:10 * (shard + 1)], compression)
            equal(verified(out), digest_of(pixels_first(samples)), f"digest of {out.name}")
    planes = [(label, random.integers(0, 256, (32, 32, 3), np.uint8)) for label, _ in samples]
    written_by_tensorflow(work / "cifar" / "train.tfrecords",
                          [{"image": pixels.transpose(2, 0, 1).tobytes(), "label": [label]}
                           for label, pixels in planes])
    equal(verified(work / "cifar"), digest_of(pixels_first(planes)), "digest of the CIFAR tutorial's planes")
    written_by_tensorflow(work / "zlib" / "a.tfrecord", imagenet, "ZLIB")
    refused(work / "zlib", "ZLIB")
    return 4 * len(samples) + len(planes)


def main():
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        read_by_tensorflow = check_slim(work) + check_imagenet(work)
        read_by_us = check_reading(work)
    print(f"tfrecord: ok, tensorflow {tf.__version__} read {read_by_tensorflow} of our records, "
          f"we read {read_by_us} of its")


if __name__ == "__main__":
    main()
