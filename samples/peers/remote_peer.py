#!/usr/bin/env python3
"""LitData, Mosaic's streaming or webdataset on photographs or raw pixels in S3; see bench_remote.py.

    remote_peer.py write litdata|streaming|webdataset jpeg|raw FOLDER DIR
    remote_peer.py read  litdata|streaming|webdataset jpeg|raw s3://… WORKERS BATCH

Writes the images of FOLDER, a folder a class, as the library keeps them: JPEGs as their files hold them, or RGB pixels
of 256 × 256. Reads an epoch, shuffled: photographs are cropped to 224 and mirrored by torchvision, raw pixels only
stacked. Nothing is kept from an earlier run. Prints {"images": …, "seconds": …}; imports are not counted, workers that
start are.
"""
import io
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

import numpy
import torch
from PIL import Image
from torchvision import transforms

SIDE = 256
CROP = transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.PILToTensor()])
SHARD = 8 << 20  # several are under way where one is read


def pictures(folder):
    classes = sorted(one for one in pathlib.Path(folder).iterdir() if one.is_dir())
    return [(str(image), label) for label, one in enumerate(classes) for image in sorted(one.iterdir())]


def pixels_of(path):
    return Image.open(path).convert("RGB").resize((SIDE, SIDE), Image.BILINEAR)


def litdata_sample(pixels, picture):
    path, label = picture
    return {"image": numpy.asarray(pixels_of(path)) if pixels == "raw" else pathlib.Path(path).read_bytes(), "label": label}


def write_litdata(pixels, folder, place):
    import functools

    import litdata

    litdata.optimize(fn=functools.partial(litdata_sample, pixels), inputs=pictures(folder), output_dir=place,
                     chunk_bytes=SHARD, num_workers=1)


def write_streaming(pixels, folder, place):
    from streaming import MDSWriter

    columns = {"image": "pil" if pixels == "raw" else "jpeg", "label": "int"}
    with MDSWriter(out=place, columns=columns, size_limit=SHARD) as writer:
        for path, label in pictures(folder):
            writer.write({"image": pixels_of(path) if pixels == "raw" else Image.open(path), "label": label})


def write_webdataset(pixels, folder, place):
    import webdataset

    pathlib.Path(place).mkdir(parents=True)
    with webdataset.ShardWriter(f"{place}/%06d.tar", maxsize=SHARD, verbose=0) as writer:
        for number, (path, label) in enumerate(pictures(folder)):
            kept = {"npy": numpy.asarray(pixels_of(path))} if pixels == "raw" else {"jpg": pathlib.Path(path).read_bytes()}
            writer.write({"__key__": f"{number:08d}", "cls": label, **kept})


def cropped(image):
    return CROP(image.convert("RGB"))


def pixels(image):
    return torch.from_numpy(numpy.array(image))


def read_litdata(kind, url, workers, batch, place):
    import litdata
    from litdata.streaming import downloader

    downloader._OBSTORE_CLIENT_OPTIONS["allow_http"] = True  # it takes TLS alone by itself

    class Pictures(litdata.StreamingDataset):
        def __getitem__(self, index):
            row = super().__getitem__(index)
            image = row["image"]
            return (pixels(image) if kind == "raw" else cropped(Image.open(io.BytesIO(image)))), row["label"]

    endpoint = {"endpoint_url": os.environ["AWS_ENDPOINT_URL"]}
    rows = Pictures(url, cache_dir=place, shuffle=True, drop_last=False, storage_options=endpoint)
    return litdata.StreamingDataLoader(rows, batch_size=batch, num_workers=workers)


def read_streaming(kind, url, workers, batch, place):
    from streaming import StreamingDataset

    class Pictures(StreamingDataset):
        def __getitem__(self, index):
            row = super().__getitem__(index)
            return (pixels(row["image"]) if kind == "raw" else cropped(row["image"])), row["label"]

    os.environ["S3_ENDPOINT_URL"] = os.environ["AWS_ENDPOINT_URL"]
    rows = Pictures(remote=url.rstrip("/"), local=place, shuffle=True, batch_size=batch)
    return torch.utils.data.DataLoader(rows, batch_size=batch, num_workers=workers, persistent_workers=True)


def read_webdataset(kind, url, workers, batch, _):
    import boto3
    import webdataset

    bucket, prefix = url.removeprefix("s3://").split("/", 1)
    client = boto3.client("s3")
    names = [one["Key"] for one in client.list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]]
    # What its users do: a signed address each, read by curl.
    signed = [client.generate_presigned_url("get_object", {"Bucket": bucket, "Key": name}) for name in names]
    urls = [f"pipe:curl -s -f '{one}'" for one in signed]

    def sample(row):
        if kind == "raw":
            return torch.from_numpy(numpy.lib.format.read_array(io.BytesIO(row["npy"]))), int(row["cls"])
        return cropped(Image.open(io.BytesIO(row["jpg"]))), int(row["cls"])

    rows = webdataset.WebDataset(urls, shardshuffle=100, empty_check=False).shuffle(1000).map(sample)
    return torch.utils.data.DataLoader(rows, batch_size=batch, num_workers=workers, persistent_workers=True)


READ = {"litdata": read_litdata, "streaming": read_streaming, "webdataset": read_webdataset}
WRITE = {"litdata": write_litdata, "streaming": write_streaming, "webdataset": write_webdataset}


def main():
    what, by, kind = sys.argv[1:4]
    if what == "write":
        return WRITE[by](kind, *sys.argv[4:])
    url, workers, batch = sys.argv[4], *map(int, sys.argv[5:7])
    place = tempfile.mkdtemp()
    try:
        start = time.perf_counter()
        images = sum(len(labels) for _, labels in READ[by](kind, url, workers, batch, place))
        print(json.dumps({"images": images, "seconds": time.perf_counter() - start}), flush=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    os._exit(0)  # some libraries leave threads behind


if __name__ == "__main__":
    sys.exit(main())
