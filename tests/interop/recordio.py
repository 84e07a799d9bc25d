#!/usr/bin/env python3
"""RecordIO against MXNet itself: MXNet reads what Feedrate writes, and the other way round.

    recordio.py FEEDRATE        needs mxnet 1.9.1, opencv and a numpy before 1.24

Pixels and labels are compared by the content digest: SHA-256 over the SHA-256 of each sample's
label, shape and pixels, computed here from what MXNet read.
"""
import pathlib
import struct
import subprocess
import sys
import tempfile
import warnings
import zlib

sys.path[0] += "/support"  # instead of this directory, whose modules would shadow packages

warnings.simplefilter("ignore")  # MXNet is older than the installed numpy

import cv2
import numpy as np
import mxnet as mx
from mxnet.recordio import IRHeader, MXIndexedRecordIO, MXRecordIO, pack, pack_img, unpack, unpack_img
from program import digest_of, equal, feedrate, verified

MAGIC = struct.pack("<I", 0xCED7230A)  # starts a record; MXNet removes it inside one


def rgb(pixels):
    """OpenCV's H x W or H x W x 3 (blue first) in Feedrate's order."""
    return np.ascontiguousarray(pixels[..., ::-1] if pixels.ndim == 3 else pixels[..., None])


def image(number, grey=False):
    """An OpenCV image, blue first; smooth, so that JPEG keeps it recognisable."""
    random = np.random.default_rng(number)
    small = random.integers(0, 256, (5, 6) if grey else (5, 6, 3), np.uint8)
    return cv2.resize(small, (41 + number % 9, 36 + number % 7))


def png_with_magic(number):
    """A PNG with a text chunk that holds MAGIC, at each alignment in turn."""
    png = cv2.imencode(".png", image(number))[1].tobytes()
    text = b"x" * (number % 7) + MAGIC * (number % 3) + b"abc" + MAGIC + b"y"
    chunk = b"tEXt" + b"k\0" + text
    return png[:33] + struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(
        ">I", zlib.crc32(chunk)) + png[33:]


def records(rec):
    """(key, header, image bytes) of one .rec in the order of its .idx."""
    reader = MXIndexedRecordIO(str(rec.with_suffix(".idx")), str(rec), "r")
    try:
        return [(key, *unpack(reader.read_idx(key))) for key in reader.keys]
    finally:
        reader.close()


def in_sequence(rec):
    reader, payloads = MXRecordIO(str(rec), "r"), []
    while (payload := reader.read()) is not None:
        payloads.append(payload)
    reader.close()
    return payloads


def through_iterator(rec, shape, size, **options):
    """(pixels, label) pairs from ImageRecordIter, which decodes in its own threads."""
    iterator = mx.io.ImageRecordIter(path_imgrec=str(rec), data_shape=shape, batch_size=16,
                                     preprocess_threads=2, verbose=False, **options)
    samples = []
    for batch in iterator:
        pixels = batch.data[0].asnumpy()
        equal(np.array_equal(pixels, np.rint(pixels)), True, "whole numbers from ImageRecordIter")
        for planes, label in zip(pixels, batch.label[0].asnumpy()):
            samples.append((np.ascontiguousarray(planes.transpose(1, 2, 0)).astype(np.uint8),
                            label if label.ndim else int(label)))
    return samples[:size]  # the last batch is filled up from the first


def check_written(work):
    """Digits and colours as PNG, in one file and in shards: keys, labels, pixels, lists, means."""
    count = 0
    for source, shape in [("mnist", (28, 28, 1)), ("cifar10", (32, 32, 3))]:
        feedrate("synth", source, "--images", 300, "--out", work / source, "--seed", 5)
        for shards in [1, 3]:
            out = work / f"{source}-{shards}"
            feedrate("convert", source, work / source, "--to", "recordio", "--split", "train",
                     "--shards", shards, "--out", out)
            files = sorted(out.glob("data*.rec"))
            equal(len(files), shards, "files")
            read = [record for file in files for record in records(file)]
            equal([key for key, _, _ in read], list(range(len(read))), "keys")
            equal([header.id for _, header, _ in read], list(range(len(read))), "ids")
            equal({(header.flag, header.id2) for _, header, _ in read}, {(0, 0)}, "flags and id2")
            samples = [(rgb(cv2.imdecode(np.frombuffer(png, np.uint8), -1)), int(header.label))
                       for _, header, png in read]
            equal({pixels.shape for pixels, _ in samples}, {shape}, "shapes")
            equal(digest_of(samples), verified(out), f"digest of {out.name}")
            listed = [line.split("\t") for file in files
                      for line in file.with_suffix(".lst").read_text().splitlines()]
            equal([(int(number), float(label)) for number, label, _ in listed],
                  [(key, header.label) for key, header, _ in read], "lines of the .lst")
            for file in files:
                equal([pack(header, png) for _, header, png in records(file)], in_sequence(file),
                      f"records of {file.name} one after the other, packed again")
        check_iterator(out := work / f"{source}-1", samples, shape)
        check_mean(out / "mean.nd", np.mean([pixels for pixels, _ in samples], axis=0))
        count += 2 * len(samples)
    return count


def check_iterator(out, samples, shape):
    found = through_iterator(out / "data.rec", (shape[2], *shape[:2]), len(samples))
    equal(digest_of(found), digest_of(samples), "what ImageRecordIter reads")
    shuffled = through_iterator(out / "data.rec", (shape[2], *shape[:2]), len(samples),
                                path_imgidx=str(out / "data.idx"), shuffle=True, seed=3)
    order = lambda pairs: sorted((label, pixels.tobytes()) for pixels, label in pairs)
    full = len(samples) // 16 * 16  # without the last, partial batch
    equal(len(set(order(shuffled[:full])) - set(order(samples))), 0, "images not ours in a shuffle")


def check_mean(file, expected):
    """mean_img of an NDArray list: channels x height x width, red first."""
    mean = mx.nd.load(str(file))["mean_img"].asnumpy().transpose(1, 2, 0)
    equal(mean.shape, expected.shape, "shape of the mean")
    worst = np.abs(mean - expected).max()
    equal(worst < 2e-4, True, f"a mean that is off by {worst}")


def check_kept(work):
    """Files stay unchanged, even where they hold the word that starts a record."""
    files = {}
    for number in range(40):
        name = f"{'cat' if number % 2 else 'ant'}/{number:02}.{'jpg' if number % 4 == 3 else 'png'}"
        files[name] = (cv2.imencode(".jpg", image(number))[1].tobytes() if number % 4 == 3
                       else png_with_magic(number))
        (work / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (work / "tree" / name).write_bytes(files[name])
    out = work / "kept"
    feedrate("convert", "folder", work / "tree", "--to", "recordio", "--encode", "keep", "--split",
             "train", "--out", out)
    read = records(out / "data.rec")
    equal([png for _, _, png in read], [files[name] for name in sorted(files)], "the bytes kept")
    equal([int(header.label) for _, header, _ in read], [0] * 20 + [1] * 20, "labels")
    names = [line.split("\t")[2] for line in (out / "data.lst").read_text().splitlines()]
    equal(names, sorted(files), "names in the .lst")
    theirs = work / "kept-theirs.rec"  # MXNet writes the same file from the same payloads
    writer = MXRecordIO(str(theirs), "w")
    for payload in in_sequence(out / "data.rec"):
        writer.write(payload)
    writer.close()
    equal(theirs.read_bytes() == (out / "data.rec").read_bytes(), True, "frames, byte for byte")
    return len(read)


def check_index(work):
    """A lost .idx is rebuilt as it was, and MXNet finds every record with it."""
    for name in ["cifar10-1/data", "cifar10-3/data-00001-of-00003", "ids/a"]:
        rec = work / f"{name}.rec"
        before, read = rec.with_suffix(".idx").read_text(), records(rec)
        rec.with_suffix(".idx").unlink()
        feedrate("index", rec)
        equal(rec.with_suffix(".idx").read_text(), before, f"the index of {name} made anew")
        equal(records(rec), read, f"records of {name} by the new index")


def write(rec, payloads, keys=None):
    rec.parent.mkdir(exist_ok=True)
    if keys is None:
        writer = MXRecordIO(str(rec), "w")
        for payload in payloads:
            writer.write(payload)
    else:
        writer = MXIndexedRecordIO(str(rec.with_suffix(".idx")), str(rec), "w")
        for key, payload in zip(keys, payloads):
            writer.write_idx(key, payload)
    writer.close()


def check_single_labels(work):
    """Reads pack_img's PNG and JPEG, grey and colour, ids in no order, with and without an .idx."""
    ids = [int(i) for i in np.random.default_rng(1).permutation(1000)[:60]]
    payloads, samples = [], []
    for number, key in enumerate(ids):
        kind = ".jpg" if number % 3 == 0 else ".png"
        packed = pack_img(IRHeader(0, float(number % 13), key, 0), image(number, number % 4 == 1),
                          quality=90 if kind == ".jpg" else 3, img_fmt=kind)
        header, pixels = unpack_img(packed, iscolor=-1)
        payloads.append(packed)
        samples.append((rgb(pixels), int(header.label)))
    write(work / "ids/a.rec", payloads, ids)
    write(work / "bare/a.rec", payloads)
    for name in ["ids", "bare"]:
        equal(verified(work / name), digest_of(samples), f"digest of {name}")
    return 2 * len(samples)


def check_many_labels(work):
    """Headers with several labels: the first is the class, and all are kept."""
    labels = [[float(number % 5), 0.25, -3.0][:2 + number % 2] for number in range(20)]
    object_of = lambda number, box: [float(number % 7), *box, 0.0]
    boxes = [[2.0, 6.0, *object_of(n, (0.1, 0.2, 0.5, 0.75)), *object_of(n + 1, (0, 0, 1, 1))]
             for n in range(20)]
    for name, rows, classes in [("many", labels, [int(row[0]) for row in labels]),
                                ("boxes", boxes, [int(row[2]) for row in boxes])]:
        images = [image(number) for number in range(20)]
        write(work / name / "a.rec", [pack_img(IRHeader(0, row, number, 0), pixels, 3, ".png")
                                      for number, (row, pixels) in enumerate(zip(rows, images))],
              range(20))
        expected = digest_of((rgb(pixels), label) for pixels, label in zip(images, classes))
        equal(verified(work / name), expected, f"digest of {name}")
        out = work / f"{name}-again"
        feedrate("convert", "dataset", work / name, "--to", "recordio", "--encode", "keep",
                 "--split", "train", "--out", out)
        again = records(out / "data.rec")
        equal([header.flag for _, header, _ in again], [len(row) for row in rows], "numbers of labels")
        for (_, header, _), row in zip(again, rows):
            equal(np.array_equal(header.label, np.array(row, np.float32)), True, f"labels {row}")
        if name == "boxes":
            found = through_iterator(out / "data.rec", (3, 36, 41), 20, label_width=len(rows[0]))
            equal(np.array_equal([label for _, label in found], np.array(rows, np.float32)), True,
                  "labels by ImageRecordIter")
    return 40


def check_im2rec(work):
    """MXNet's own im2rec.py, where the package includes it: a list, then records with unchanged files."""
    script = pathlib.Path(mx.__file__).parent / "tools" / "im2rec.py"
    if not script.is_file():
        return 0
    prefix = work / "im2rec" / "set"
    prefix.parent.mkdir()
    for options in [["--list", "--recursive"], ["--pass-through", "--pack-label"]]:
        done = subprocess.run([sys.executable, str(script), *options, str(prefix),
                               str(work / "tree")], capture_output=True, text=True)
        equal(done.returncode, 0, f"im2rec {options}: {done.stderr}")
    read = records(prefix.with_suffix(".rec"))
    equal(len(read), 40, "records of im2rec")
    samples = [(rgb(cv2.imdecode(np.frombuffer(file, np.uint8), -1)), int(header.label))
               for _, header, file in read]
    equal(verified(prefix.with_suffix(".rec")), digest_of(samples), "digest of im2rec's")
    return len(read)


def main():
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        written = check_written(work) + check_kept(work)
        read = check_single_labels(work) + check_many_labels(work)
        check_index(work)
        by_script = check_im2rec(work)
    script = f"{by_script} of im2rec.py" if by_script else "none of im2rec.py, which is not installed"
    print(f"recordio: ok, mxnet {mx.__version__} read {written} records of ours, "
          f"we read {read} of its and {script}")


if __name__ == "__main__":
    main()
