"""Feedrate's datasets for loaders that read by index: each has len() and read(i) → Sample.

Files are listed once, opened by each process for itself and read with plain Python. Nothing checks
for damage here: that is what `feedrate verify` does."""

import io
import mmap
import pathlib
import struct
import tarfile
import typing

import numpy

from common import Problem


class Sample(typing.NamedTuple):
    data: bytes    # an encoded image, or raw planes
    label: int
    shape: tuple   # (channels, height, width) of raw planes; () for an encoded image


def open_dataset(path, container):
    return DATASETS[container](path)


def decode(sample):
    """Height × width × channels, or height × width of a grey image."""
    if sample.shape:
        planes = numpy.frombuffer(sample.data, numpy.uint8).reshape(sample.shape)
        return planes[0] if sample.shape[0] == 1 else planes.transpose(1, 2, 0)
    return numpy.asarray(decode_pillow(sample))


def decode_pillow(sample):
    import PIL.Image  # not needed for raw datasets
    if sample.shape:
        return PIL.Image.fromarray(numpy.ascontiguousarray(decode(sample)))
    image = PIL.Image.open(io.BytesIO(sample.data))
    return image if image.mode in ("L", "RGB") else image.convert("RGB")


class Files:
    """Files by number, mapped on first use, by each process for itself."""

    def __init__(self, paths):
        self.paths, self.maps = [str(path) for path in paths], {}

    def __getitem__(self, number):
        if number not in self.maps:
            with open(self.paths[number], "rb") as stream:
                self.maps[number] = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        return self.maps[number]

    def __getstate__(self):
        return {"paths": self.paths, "maps": {}}


class Lmdb:
    """Caffe's Datums, read with python-lmdb."""

    def __init__(self, path):
        self.path, self.transaction = str(path), None
        self.file = path.is_file()
        with self.begin() as transaction:
            self.keys = [bytes(key) for key in transaction.cursor().iternext(values=False)]

    def begin(self):
        try:
            import lmdb
        except ImportError as error:
            raise Problem(f"an LMDB needs python-lmdb: {error}") from error
        environment = lmdb.open(self.path, subdir=not self.file, readonly=True, lock=False,
                                readahead=False, meminit=False)
        return environment.begin(buffers=True)

    def __len__(self):
        return len(self.keys)

    def read(self, i):
        self.transaction = self.transaction or self.begin()
        fields = {field: value for field, value in wire(self.transaction.get(self.keys[i]))}
        shape = tuple(fields.get(field, 0) for field in (1, 2, 3))
        return Sample(fields[4], fields.get(5, 0), () if fields.get(7) else shape)

    def __getstate__(self):
        return self.__dict__ | {"transaction": None}


class RecordIo:
    """MXNet's records: magic, length, header (flag, label, two ids), labels, image."""

    MAGIC = struct.pack("<I", 0xCED7230A)

    def __init__(self, path):
        records = [path] if path.is_file() else sorted(path.glob("*.rec"))
        self.files, self.places = Files(records), []
        for number, record in enumerate(records):
            for line in record.with_suffix(".idx").read_text().splitlines():
                self.places.append((number, int(line.split("\t")[1])))

    def __len__(self):
        return len(self.places)

    def read(self, i):
        number, offset = self.places[i]
        payload = self.payload(self.files[number], offset)
        flag, label = struct.unpack_from("<If", payload)
        if flag:
            label = struct.unpack_from("<f", payload, 24)[0]
        return Sample(payload[24 + 4 * flag:], int(label), ())

    def payload(self, file, offset):
        parts = []
        while True:
            _, word = struct.unpack_from("<II", file, offset)
            part, length = word >> 29, word & (1 << 29) - 1
            parts.append(file[offset + 8:offset + 8 + length])
            offset += 8 + (length + 3) // 4 * 4
            if part in (0, 3):  # a whole record, or the last part of one split at the magic
                return self.MAGIC.join(parts)


class TfRecord:
    """Frames of tf.Examples: length, its checksum, message, its checksum."""

    def __init__(self, path):
        shards = tfrecord_files(path)
        if any(shard.suffix == ".gz" for shard in shards):
            raise Problem(f"{path}: compressed TFRecords cannot be read by index")
        self.files, self.places = Files(shards), []
        for number, shard in enumerate(shards):
            file, offset, end = self.files[number], 0, shard.stat().st_size
            while offset < end:
                length, = struct.unpack_from("<Q", file, offset)
                self.places.append((number, offset + 12, length))
                offset += 16 + length

    def __len__(self):
        return len(self.places)

    def read(self, i):
        number, offset, length = self.places[i]
        features = example(self.files[number][offset:offset + length])
        label = features["image/class/label"][0]
        first = 1 if "image/class/synset" in features else 0  # ImageNet's scripts count from 1
        return Sample(features["image/encoded"][0], label - first, ())


def tfrecord_files(path):
    """The data files of a dataset, without indices and lists."""
    others = (".idx", ".txt", ".json")
    return [path] if path.is_file() else sorted(
        file for file in path.iterdir() if file.is_file() and file.suffix not in others)


class PngMap:
    """CNTK's lists of "path<tab>label"; "..." stands for the list's own directory."""

    def __init__(self, path):
        lists = [path] if path.is_file() else sorted(path.glob("*_map.txt"))
        self.files = []
        for file in lists:
            for line in file.read_text().splitlines():
                name, label = line.rsplit("\t", 1)
                place = name.replace(".../", f"{file.parent}/", 1) if name[:3] == "..." else name
                self.files.append((str(file.parent / place) if name[:3] != "..." else place,
                                   int(label)))

    def __len__(self):
        return len(self.files)

    def read(self, i):
        name, label = self.files[i]
        with open(name, "rb") as stream:
            return Sample(stream.read(), label, ())


class Folder(PngMap):
    """A sub-directory for each class, as in torchvision's ImageFolder."""

    def __init__(self, path):
        classes = sorted(entry for entry in path.iterdir() if entry.is_dir())
        self.files = [(str(file), label) for label, one in enumerate(classes)
                      for file in sorted(one.rglob("*")) if file.is_file()]


class WebDataset:
    """Tars of KEY.cls and KEY.jpg or KEY.png, indexed by one walk."""

    def __init__(self, path):
        tars = [path] if path.is_file() else sorted(path.glob("*.tar"))
        self.files, self.places, labels = Files(tars), [], {}
        for number, tar in enumerate(tars):
            for member in tarfile.open(tar, "r:"):
                key, _, kind = member.name.rpartition(".")
                if kind == "cls":
                    at = member.offset_data
                    labels[number, key] = int(self.files[number][at:at + member.size])
                elif kind in ("png", "jpg", "jpeg", "webp"):
                    self.places.append((number, key, member.offset_data, member.size))
        self.places = [(number, at, size, labels[number, key])
                       for number, key, at, size in self.places]

    def __len__(self):
        return len(self.places)

    def read(self, i):
        number, offset, size, label = self.places[i]
        return Sample(self.files[number][offset:offset + size], label, ())


DATASETS = {"lmdb": Lmdb, "recordio": RecordIo, "tfrecord": TfRecord, "png-map": PngMap,
            "webdataset": WebDataset, "folder": Folder}


def wire(message):
    """Yields (field, value) of a protobuf message: whole numbers and bytes."""
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        field, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = varint(message, at)
        elif kind == 2:
            size, at = varint(message, at)
            value, at = bytes(message[at:at + size]), at + size
        else:
            size = {1: 8, 5: 4}[kind]
            value, at = bytes(message[at:at + size]), at + size
        yield field, value


def varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def example(message):
    """The features of a tf.Example by key: lists of bytes or of whole numbers. Floats are skipped."""
    found = {}
    for _, features in wire(message):
        for _, entry in wire(features):
            key, feature = (value for _, value in wire(entry))
            for kind, values in wire(feature):
                if kind == 1:
                    found[key.decode()] = [value for _, value in wire(values)]
                elif kind == 3:
                    found[key.decode()] = list(whole_numbers(values))
    return found


def whole_numbers(values):
    for _, value in wire(values):
        if isinstance(value, int):
            yield value
        else:  # packed
            at = 0
            while at < len(value):
                number, at = varint(value, at)
                yield number
