#!/usr/bin/env python3
"""Decodes the JPEGs of two ImageNet archives with Pillow and writes one digest an archive.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install pillow
    /tmp/venv/bin/python tests/formats/parity/make_jpeg.py ../shared/data/imagenet

Pillow decodes with libjpeg-turbo (ISLOW, smooth upsampling), which is what Feedrate promises. The
digest is SHA-256 over, for every image in the order of the archive, the SHA-256 of u32le height,
width, channels and the pixels."""

import hashlib
import io
import json
import pathlib
import struct
import sys
import tarfile

from PIL import Image, features


def images(file):
    """The JPEGs of a tar, and of tars inside it, in order."""
    with tarfile.open(fileobj=file) as archive:
        for member in archive:
            content = archive.extractfile(member).read()
            if member.name.endswith(".tar"):
                yield from images(io.BytesIO(content))
            else:
                yield content


def digest(content):
    image = Image.open(io.BytesIO(content))
    assert image.mode in ("L", "RGB"), image.mode
    channels = len(image.getbands())
    shape = struct.pack("<3I", image.height, image.width, channels)
    return channels, hashlib.sha256(shape + image.tobytes()).digest()


def main(folder):
    result = {"decoder": f"libjpeg-turbo {features.version('libjpeg_turbo')}", "archives": {}}
    for name in ("ILSVRC2012_img_train.tar", "ILSVRC2012_img_val.tar"):
        with open(folder / name, "rb") as file:
            found = [digest(content) for content in images(file)]
        whole = hashlib.sha256(b"".join(h for _, h in found)).hexdigest()
        grey = sum(channels == 1 for channels, _ in found)
        result["archives"][name] = {"images": len(found), "grey": grey, "digest": whole}
    here = pathlib.Path(__file__).parent
    (here / "jpeg.json").write_text(json.dumps(result, indent=1) + "\n")


main(pathlib.Path(sys.argv[1]))
