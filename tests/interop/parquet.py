#!/usr/bin/env python3
"""Parquet files that pyarrow writes, in all its ways, and what pyarrow and Pillow read of them.

    parquet.py FEEDRATE        needs pyarrow, pillow and numpy

Pixels and labels are compared by the content digest: SHA-256 over the SHA-256 of each sample's
label, shape and pixels, computed here from what pyarrow returned.
"""
import io
import itertools
import json
import pathlib
import sys
import tempfile

sys.path[0] += "/support"  # instead of this directory, whose modules would shadow packages

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image
from program import digest_of, equal, feedrate, verified

CLASSES = [f"class {i}" for i in range(7)]
FEATURES = {"info": {"features": {"image": {"_type": "Image"},
                                  "label": {"names": CLASSES, "_type": "ClassLabel"}}}}


def encoded(number):
    random = np.random.default_rng(number)
    pixels = random.integers(0, 256, (6 + number % 5, 9 + number % 3, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


IMAGES = [encoded(i % 90) for i in range(103)]  # some are alike, which dictionaries show


def table(begin, end, label):
    struct = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    rows = range(begin, end)
    images = [{"bytes": IMAGES[i], "path": None if i % 3 == 0 else f"{i}.png"} for i in rows]
    made = pa.table({"note": [f"row {i}" for i in rows], "image": pa.array(images, type=struct),
                     "label": pa.array([i % 7 for i in rows], type=label)})
    return made.replace_schema_metadata({"huggingface": json.dumps(FEATURES)})


def read_by_pyarrow(paths, struct=True):
    for path in paths:
        for row in pq.read_table(path).to_pylist():
            image = row["image"]["bytes"] if struct else row["image"]
            pixels = np.asarray(Image.open(io.BytesIO(image)))
            yield pixels.reshape(*pixels.shape[:2], -1), row["label"]


def check_all_ways(work):
    ways = itertools.product(["none", "snappy", "gzip", "zstd"], ["1.0", "2.0"], [True, False],
                             [10, 1000], [1000, 1 << 20])
    for codec, version, dictionary, group, page in ways:
        file = work / "one.parquet"
        pq.write_table(table(0, 103, pa.int32() if group == 10 else pa.int64()), file,
                       compression=codec, data_page_version=version, use_dictionary=dictionary,
                       row_group_size=group, data_page_size=page, write_page_checksum=page == 1000)
        equal(verified(file), digest_of(read_by_pyarrow([file])),
              f"{codec}, version {version}, dictionary {dictionary}, groups {group}, pages {page}")


def check_shards(work):
    files = [work / "set" / f"train-{i:05}-of-00005.parquet" for i in range(5)]
    files[0].parent.mkdir()
    for file, (begin, end) in zip(files, [(0, 0), (0, 40), (40, 80), (80, 80), (80, 103)]):  # two are empty
        pq.write_table(table(begin, end, pa.int64()), file)
    digest = digest_of(read_by_pyarrow(files))
    equal(verified(files[0].parent), digest, "a directory of shards")
    feedrate("convert", "dataset", files[0].parent, "--to", "webdataset", "--encode", "png",
             "--out", work / "converted")
    equal(verified(work / "converted"), digest, "converted")


def check_texts(work):
    """Labels that are text are classes in the order of their bytes."""
    texts = ["Zebra", "ant", "b", "caf\u00e9", "\u65e5\u672c", "\U0001f600"]
    (work / "texts").mkdir()
    files = [work / "texts" / f"train-{i:05}-of-00002.parquet" for i in range(2)]
    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
    for kind, codec, dictionary in itertools.product(kinds, ["none", "zstd"], [True, False]):
        for part, file in enumerate(files):
            rows = range(part * 50, part * 50 + 50)
            names = pa.array([texts[i * 5 % 6] for i in rows]).cast(kind)
            made = pa.table({"image": pa.array([IMAGES[i] for i in rows], type=pa.binary()),
                             "caption": [f"of {i}" for i in rows], "label": names})
            pq.write_table(made, file, compression=codec, use_dictionary=dictionary, row_group_size=17)
        rows = [(pixels, texts.index(label)) for pixels, label in read_by_pyarrow(files, struct=False)]
        equal(verified(work / "texts"), digest_of(rows), f"texts as {kind}, {codec}, {dictionary}")
    feedrate("convert", "dataset", work / "texts", "--to", "recordio", "--out", work / "of-texts")
    facts = json.loads(feedrate("inspect", work / "of-texts", "--json"))
    equal(facts["class_names"], texts, "names of classes")


with tempfile.TemporaryDirectory() as name:
    check_all_ways(pathlib.Path(name))
    check_texts(pathlib.Path(name))
    check_shards(pathlib.Path(name))
print("parquet: ok: 103 samples of pyarrow's in 64 ways read, and with texts as labels in 12, and five shards of them")
