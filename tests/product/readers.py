"""Each format read once more, by FORMATS.md and the standard library alone.

stored() gives [(label, Image or bytes)] in the order of reading: pixels where they are raw, else the
encoded image."""

import gzip
import json
import pathlib
import struct
import tarfile
import zlib

from inputs import Image

MAGIC = b"\x0a\x23\xd7\xce"


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def message(data):
    """The fields of a protobuf message: [(number, value)]."""
    at, fields = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = (4, at) if tag & 7 == 5 else varint(data, at)
            value, at = data[at:at + size], at + size
        fields.append((tag >> 3, value))
    assert at == len(data)
    return fields


# ---- lmdb ----

def lmdb_entries(path):
    """[(key, value)] in the order of the keys."""
    data = path.read_bytes()
    size = struct.unpack_from("<I", data, 40)[0]
    metas = [at for at in (0, size) if struct.unpack_from("<II", data, at + 16) == (0xBEEFC0DE, 1)]
    newest = max(metas, key=lambda at: struct.unpack_from("<Q", data, at + 144)[0])
    entries, root = struct.unpack_from("<QQ", data, newest + 88 + 32)
    found = list(lmdb_page(data, size, root)) if entries else []
    assert len(found) == entries and found == sorted(found), f"{path}: {len(found)} of {entries} entries"
    return found


def lmdb_page(data, size, number):
    start = number * size
    flags, lower = struct.unpack_from("<HH", data, start + 10)
    for i in range((lower - 16) // 2):
        at = start + struct.unpack_from("<H", data, start + 16 + 2 * i)[0]
        low, middle, high, key_size = struct.unpack_from("<4H", data, at)
        if flags & 1:
            yield from lmdb_page(data, size, low | middle << 16 | high << 32)
            continue
        key, value_at = data[at + 8:at + 8 + key_size], at + 8 + key_size
        if high & 1:
            value_at = struct.unpack_from("<Q", data, value_at)[0] * size + 16
        yield key, data[value_at:value_at + (low | middle << 16)]


def lmdb(path):
    for key, value in lmdb_entries(path / "data.mdb"):
        datum = dict(message(value))
        label = (datum[5] + 2**63) % 2**64 - 2**63
        if datum.get(7):
            yield label, datum[4]
            continue
        channels, height, width = datum[1], datum[2], datum[3]
        planes = [datum[4][c * height * width:(c + 1) * height * width] for c in range(channels)]
        if not key.isdigit():  # a name in the key means B, G, R
            planes.reverse()
        yield label, Image(height, width, channels, bytes(v for pixel in zip(*planes) for v in pixel))


# ---- recordio ----

def records(data):
    at, parts = 0, []
    while at < len(data):
        assert data[at:at + 4] == MAGIC
        word = struct.unpack_from("<I", data, at + 4)[0]
        size = word & (1 << 29) - 1
        parts.append(data[at + 8:at + 8 + size])
        if word >> 29 in (0, 3):
            yield MAGIC.join(parts)
            parts = []
        at += 8 + (size + 3) // 4 * 4
    assert at == len(data) and not parts


def recordio(path):
    for file in sorted(path.glob("*.rec")):
        data = file.read_bytes()
        for record in records(data):
            count, label = struct.unpack_from("<If", record)
            if count:
                label = struct.unpack_from("<f", record, 24)[0]
            yield int(label), record[24 + 4 * count:]
        for line in file.with_suffix(".idx").read_text().splitlines():
            assert data[int(line.split("\t")[1]):][:4] == MAGIC, f"{file}: its index"


# ---- tfrecord ----

def crc_row(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    return byte


CRC_TABLE = [crc_row(byte) for byte in range(256)]


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def examples(data):
    at = 0
    while at < len(data):
        size, check = struct.unpack_from("<QI", data, at)
        record = data[at + 12:at + 12 + size]
        assert check == masked_crc(data[at:at + 8])
        assert struct.unpack_from("<I", data, at + 12 + size)[0] == masked_crc(record)
        features = dict(message(record))[1]
        yield {dict(message(entry))[1].decode(): dict(message(entry))[2] for _, entry in message(features)}
        at += 16 + size


def tfrecord(path):
    for file in sorted(file for file in path.iterdir() if "-of-" in file.name and file.suffix != ".idx"):
        data = file.read_bytes()
        for features in examples(gzip.decompress(data) if file.suffix == ".gz" else data):
            (_, numbers), = message(features["image/class/label"])
            (_, encoded), = message(features["image/encoded"])
            label = varint(dict(message(numbers))[1], 0)[0]
            yield label - ("image/class/synset" in features), dict(message(encoded))[1]


# ---- webdataset, png-map, folder ----

def webdataset(path):
    for file in sorted(path.glob("*.tar")):
        with tarfile.open(file) as tar:
            members = {member.name: tar.extractfile(member).read() for member in tar}
        for key in dict.fromkeys(name.split(".")[0] for name in members):
            image, = (data for name, data in members.items()
                      if name.split(".")[0] == key and name.split(".")[1] not in ("cls", "json"))
            yield int(members[f"{key}.cls"]), image


def png_map(path):
    file, = path.glob("*_map.txt")
    for line in file.read_text().splitlines():
        name, label = line.split("\t")
        yield int(label), (path / name.removeprefix(".../")).read_bytes()


def folder(path):
    """Class names are in the order of the labels, or are the labels."""
    names = json.loads((path / "feedrate.json").read_text())["class_names"]
    label_of = {name: label for label, name in enumerate(names)} if names == sorted(names) else {}
    for directory in sorted((one for one in path.iterdir() if one.is_dir()), key=lambda one: one.name.encode()):
        for file in sorted(directory.iterdir(), key=lambda one: one.name.encode()):
            yield label_of.get(directory.name, -1) if label_of else int(directory.name), file.read_bytes()


READERS = {"lmdb": lmdb, "recordio": recordio, "tfrecord": tfrecord, "webdataset": webdataset,
           "png-map": png_map, "folder": folder}


def stored(path, container):
    return list(READERS[container](pathlib.Path(path)))


def shorter(path, container):
    """[(size, file)]: a data file and where it may end without its last records."""
    if container == "recordio":
        file, = path.glob("*.rec")
        return ends_of(file, lambda data, at: 8 + ((struct.unpack_from("<I", data, at + 4)[0] & (1 << 29) - 1) + 3) // 4 * 4)
    if container == "tfrecord":
        file, = (file for file in path.iterdir() if file.name.endswith("-of-00001"))
        return ends_of(file, lambda data, at: 16 + struct.unpack_from("<Q", data, at)[0])
    assert container == "webdataset"
    file, = path.glob("*.tar")
    with tarfile.open(file) as tar:
        members = tar.getmembers()
    keys = [member.name.split(".")[0] for member in members]
    return [(member.offset, file) for i, member in enumerate(members) if i and keys[i] != keys[i - 1]]


def ends_of(file, size_at):
    data, at, ends = file.read_bytes(), 0, []
    while at < len(data):
        at += size_at(data, at)
        ends.append((at, file))
    return ends[:-1]


# ---- images ----

def codec_of(image):
    if isinstance(image, Image):
        return "raw"
    for codec, magic in {"png": b"\x89PNG\r\n\x1a\n", "jpeg": b"\xff\xd8\xff", "packed": b"\x9epacked1"}.items():
        if image.startswith(magic):
            return codec
    return "unknown"


def shape_of(image):
    """(height, width, channels) from a header."""
    codec = codec_of(image)
    if codec == "raw":
        return image[:3]
    if codec == "png":
        width, height, _, colour = struct.unpack_from(">IIBB", image, 16)
        return height, width, 1 if colour in (0, 4) else 3
    at = 2 if codec == "jpeg" else 26
    while image[at + 1] not in (0xC0, 0xC1, 0xC2, 0xC9, 0xCA):
        at += 2 + struct.unpack_from(">H", image, at + 2)[0]
    height, width, channels = struct.unpack_from(">HHB", image, at + 5)
    return height, width, 1 if channels == 1 else 3


def paeth(a, b, c):
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def unfiltered(kind, row, above, step):
    for i, value in enumerate(row):
        a, b, c = (row[i - step] if i >= step else 0), above[i], (above[i - step] if i >= step else 0)
        row[i] = (value + (0, a, b, (a + b) // 2, paeth(a, b, c) if kind == 4 else 0)[kind]) & 0xFF
    return row


def decoded(image):
    """The pixels of a raw image or a PNG of 8 bits, grey or RGB, as Feedrate writes them."""
    if codec_of(image) == "raw":
        return image
    height, width, channels = shape_of(image)
    at, packed = 8, b""
    while image[at + 4:at + 8] != b"IEND":
        size, name = struct.unpack_from(">I4s", image, at)
        assert zlib.crc32(image[at + 4:at + 8 + size]) == struct.unpack_from(">I", image, at + 8 + size)[0]
        packed += image[at + 8:at + 8 + size] if name == b"IDAT" else b""
        at += 12 + size
    rows, stride = zlib.decompress(packed), width * channels
    assert len(rows) == height * (stride + 1)
    pixels, above = bytearray(), bytearray(stride)
    for y in range(height):
        begin = y * (stride + 1)
        row = bytearray(rows[begin + 1:begin + 1 + stride])
        above = unfiltered(rows[begin], row, above, channels) if rows[begin] else row
        pixels += above
    return Image(height, width, channels, bytes(pixels))
