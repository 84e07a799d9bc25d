#!/usr/bin/env python3
"""LMDBs against python-lmdb and protobuf: what Feedrate writes they read, and the other way.

    lmdb.py FEEDRATE        needs lmdb, protobuf, pillow and numpy

Datum is caffe.proto's, made here field by field, so that Google's own protobuf reads and writes it.
Pixels and labels are compared by the content digest: SHA-256 over the SHA-256 of each sample's
label, shape and pixels.
"""
import hashlib
import io
import pathlib
import sys
import tempfile

sys.path[0] += "/support"  # in place of this directory, whose names are those of packages

import lmdb
import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from PIL import Image
from program import digest_of, equal, feedrate, verified

FIELD = descriptor_pb2.FieldDescriptorProto
MAP_SIZE = 1 << 30


def datum_class():
    """The class of Datum messages."""
    file = descriptor_pb2.FileDescriptorProto(name="images.proto", package="images")
    file.syntax = "proto2"
    message = file.message_type.add(name="Datum")
    for number, name, kind in [(1, "channels", "INT32"), (2, "height", "INT32"),
                               (3, "width", "INT32"), (4, "data", "BYTES"), (5, "label", "INT32"),
                               (6, "float_data", "FLOAT"), (7, "encoded", "BOOL")]:
        field = message.field.add(name=name, number=number, type=getattr(FIELD, "TYPE_" + kind))
        field.label = FIELD.LABEL_REPEATED if name == "float_data" else FIELD.LABEL_OPTIONAL
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file) if hasattr(pool, "Add") else pool.AddSerializedFile(file.SerializeToString())
    return made(pool.FindMessageTypeByName("images.Datum"))


def made(descriptor):
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory().GetPrototype(descriptor)  # protobuf 3


Datum = datum_class()


def entries(path):
    with lmdb.open(str(path), readonly=True, lock=False) as environment:
        with environment.begin() as transaction:
            equal(environment.stat()["entries"], sum(1 for _ in transaction.cursor()), "entries")
            return [(bytes(key), bytes(value)) for key, value in transaction.cursor()]


def datums(path):
    """(key, Datum) of every entry, after Google's own writer gave the same bytes."""
    for key, value in entries(path):
        datum = Datum.FromString(value)
        equal(datum.SerializeToString(), value, f"bytes of the Datum of {key}")
        yield key.decode(), datum


def hwc(datum, blue_first):
    planes = np.frombuffer(datum.data, np.uint8)
    pixels = planes.reshape(datum.channels, datum.height, datum.width).transpose(1, 2, 0)
    return np.ascontiguousarray(pixels[:, :, ::-1] if blue_first else pixels)


def pixels_of(file):
    pixels = np.asarray(Image.open(io.BytesIO(file)))
    return pixels.reshape(*pixels.shape[:2], -1)


def image(number, channels=3):
    random = np.random.default_rng(number)
    return random.integers(0, 256, (5 + number % 7, 6 + number % 3, channels), np.uint8)


def encoded(pixels, kind="PNG"):
    file = io.BytesIO()
    Image.fromarray(pixels.squeeze(2) if pixels.shape[2] == 1 else pixels).save(file, kind)
    return file.getvalue()


def write(path, items):
    with lmdb.open(str(path), map_size=MAP_SIZE) as environment:
        with environment.begin(write=True) as transaction:
            for key, value in items:
                transaction.put(key if isinstance(key, bytes) else key.encode(), value)


def check_digits(work):
    """MNIST and CIFAR: bare numbers of the tool's width, planes R, G, B."""
    feedrate("synth", "mnist", "--images", 1500, "--out", work / "mnist", "--seed", 5)
    feedrate("synth", "cifar10", "--images", 1200, "--out", work / "cifar", "--seed", 6)
    count = 0
    for source, width in [("mnist", 8), ("cifar10", 5)]:
        out = work / f"lmdb-{source}"
        archives = work / ("mnist" if source == "mnist" else "cifar")
        feedrate("convert", source, archives, "--to", "lmdb", "--split", "train", "--out", out)
        read = list(datums(out))
        equal([key for key, _ in read], [f"{i:0{width}}" for i in range(len(read))], "keys")
        equal({datum.HasField("encoded") and datum.encoded for _, datum in read}, {False}, "raw")
        samples = [(hwc(datum, blue_first=False), datum.label) for _, datum in read]
        equal(digest_of(samples), verified(out), f"digest of {source}")
        count += len(read)
    return count


def check_names(work):
    """A folder: %08d_path; raw planes B, G, R, or the very bytes of the files."""
    files = {}
    for number in range(40):
        name = f"{'cat' if number % 2 else 'ant'}/b c{number:02}.png"
        files[name] = encoded(image(number))
        (work / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (work / "tree" / name).write_bytes(files[name])
    names = sorted(files)
    for how in ["raw", "keep"]:
        out = work / f"lmdb-{how}"
        feedrate("convert", "folder", work / "tree", "--to", "lmdb", "--encode", how, "--split",
                 "train", "--out", out)
        read = list(datums(out))
        equal([key.split("_", 1)[0] for key, _ in read], [f"{i:08}" for i in range(40)], "numbers")
        equal([key.rsplit("/", 1)[1] for key, _ in read],
              [name.rsplit("/", 1)[1] for name in names], "paths in keys")
        if how == "keep":
            equal([d.data for _, d in read], [files[name] for name in names], "bytes kept")
            equal({(d.encoded, d.HasField("channels")) for _, d in read}, {(True, False)}, "shape")
            samples = [(pixels_of(d.data), d.label) for _, d in read]
        else:
            samples = [(hwc(d, blue_first=True), d.label) for _, d in read]
        equal(samples[0][1], 0, "label of ant")
        equal(digest_of(samples), verified(out), f"digest of a folder, {how}")
    return 2 * len(names)


def check_caffe(work):
    """Datums that Google's protobuf wrote, named and not, raw and encoded, without field 7."""
    samples, items = [], []
    for number in range(30):
        pixels, label = image(number, 1 if number % 5 == 0 else 3), number % 11
        key = f"{number:08}_dir/{number}.jpg" if number % 2 else f"{number:08}"
        samples.append((pixels, label))
        if number % 3 == 0:
            datum = Datum(data=encoded(pixels), label=label, encoded=True)
        else:
            planes = pixels[:, :, ::-1] if number % 2 else pixels
            datum = Datum(channels=pixels.shape[2], height=pixels.shape[0], width=pixels.shape[1],
                          data=planes.transpose(2, 0, 1).tobytes(), label=label)
        items.append((key, datum.SerializeToString()))
    write(work / "caffe", items)
    equal(verified(work / "caffe"), digest_of(samples), "digest of Caffe's")
    return len(items)


def check_images(work):
    """LSUN's and BasicSR's values, which are files."""
    images = [image(number) for number in range(25)]
    keys = sorted(hashlib.sha1(bytes([i])).hexdigest() for i in range(25))
    write(work / "bedroom_train_lmdb", [(key, encoded(p)) for key, p in zip(keys, images)])
    equal(verified(work / "bedroom_train_lmdb"), digest_of((p, 0) for p in images), "LSUN's")
    return len(images)


with tempfile.TemporaryDirectory() as directory:
    work = pathlib.Path(directory)
    written = check_digits(work) + check_names(work)
    read = check_caffe(work) + check_images(work)
print(f"lmdb: ok, lmdb {lmdb.__version__} and protobuf read {written} samples of ours, "
      f"we read {read} of theirs")
