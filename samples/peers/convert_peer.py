#!/usr/bin/env python3
"""convert_peer.py SOURCE ARCHIVES FORMAT OUT: converts a published archive with FORMAT's own tool.

It does what a careful user of that tool would write: one process, the tool's own writer, JPEGs passed
through, small images as PNG (raw for LMDB), synced at the end. Exits with 1 when a library is missing.
"""
import gzip
import io
import os
import pathlib
import sys
import tarfile


def mnist(folder):
    import numpy

    def read(name, header):
        return numpy.frombuffer(gzip.open(folder / name).read(), numpy.uint8, offset=header)

    images = read("train-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28)
    for image, label in zip(images, read("train-labels-idx1-ubyte.gz", 8)):
        yield "", int(label), image


def cifar10(folder):
    import numpy
    with tarfile.open(next(folder.glob("cifar-10-binary.tar*"))) as archive:
        for member in sorted(archive.getnames()):
            if "data_batch" not in member:
                continue
            batch = numpy.frombuffer(archive.extractfile(member).read(), numpy.uint8).reshape(-1, 3073)
            for record in batch:
                yield "", int(record[0]), record[1:].reshape(3, 32, 32).transpose(1, 2, 0)


def imagenet(folder):
    classes = {}
    with tarfile.open(folder / "ILSVRC2012_img_train.tar", "r|") as outer:
        for inner in outer:
            with tarfile.open(fileobj=outer.extractfile(inner), mode="r|") as images:
                for member in images:
                    label = classes.setdefault(inner.name, len(classes))
                    yield member.name, label, images.extractfile(member).read()


def encoded(pixels):
    """A small image as PNG; a JPEG file unchanged."""
    if isinstance(pixels, bytes):
        return pixels, "jpg"
    from PIL import Image
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue(), "png"


def lmdb_writer(samples, out):
    import lmdb
    from datum import Datum
    env = lmdb.open(str(out), map_size=1 << 38)
    txn = env.begin(write=True)
    for i, (name, label, pixels) in enumerate(samples):
        datum = Datum()
        if isinstance(pixels, bytes):
            datum.data, datum.encoded = pixels, True
        else:
            image = pixels if pixels.ndim == 3 else pixels[:, :, None]
            datum.height, datum.width, datum.channels = image.shape
            datum.data = image.transpose(2, 0, 1).tobytes()
        datum.label = label
        txn.put(f"{i:08d}_{name}".encode(), datum.SerializeToString())
        if i % 1000 == 999:
            txn.commit()
            txn = env.begin(write=True)
    txn.commit()
    env.close()


def recordio_writer(samples, out):
    from mxnet import recordio
    writer = recordio.MXIndexedRecordIO(str(out / "data.idx"), str(out / "data.rec"), "w")
    for i, (_, label, pixels) in enumerate(samples):
        writer.write_idx(i, recordio.pack(recordio.IRHeader(0, label, i, 0), encoded(pixels)[0]))
    writer.close()


def tfrecord_writer(samples, out):
    import tensorflow as tf

    def integer(value):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))

    def text(value):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

    with tf.io.TFRecordWriter(str(out / "train-00000-of-00001")) as writer:
        for name, label, pixels in samples:
            image, kind = encoded(pixels)
            feature = {"image/encoded": text(image), "image/format": text(kind.encode()),
                       "image/class/label": integer(label), "image/filename": text(name.encode())}
            features = tf.train.Features(feature=feature)
            writer.write(tf.train.Example(features=features).SerializeToString())


def webdataset_writer(samples, out):
    import webdataset
    with webdataset.ShardWriter(str(out / "train-%06d.tar"), maxcount=1 << 30, maxsize=1 << 40,
                                verbose=0) as writer:
        for i, (_, label, pixels) in enumerate(samples):
            image, kind = encoded(pixels)
            writer.write({"__key__": f"{i:08d}", kind: image, "cls": label})


def png_map_writer(samples, out):
    (out / "train").mkdir()
    with open(out / "train_map.txt", "w", encoding="utf-8") as lines:
        for i, (_, label, pixels) in enumerate(samples):
            image, kind = encoded(pixels)
            (out / "train" / f"{i:05d}.{kind}").write_bytes(image)
            lines.write(f".../train/{i:05d}.{kind}\t{label}\n")


SOURCES = {"mnist": mnist, "cifar10": cifar10, "imagenet": imagenet}
WRITERS = {"lmdb": lmdb_writer, "recordio": recordio_writer, "tfrecord": tfrecord_writer,
           "webdataset": webdataset_writer, "png-map": png_map_writer}


def main():
    source, archives, target, out = sys.argv[1:]
    out = pathlib.Path(out)
    out.mkdir()
    try:
        WRITERS[target](SOURCES[source](pathlib.Path(archives)), out)
    except ImportError as error:
        print(f"convert_peer: {error}", file=sys.stderr)
        sys.exit(1)
    os.sync()


if __name__ == "__main__":
    main()
