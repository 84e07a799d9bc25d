"""Small sources as they are published, and what they hold.

Every file is written here by the formats' definitions, but for photographs, which `feedrate synth` draws,
and small JPEGs, which `feedrate convert` encodes."""

import collections
import gzip
import io
import pathlib
import random
import struct
import subprocess
import tarfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent

# `pixels` is None for a JPEG: the standard library cannot decode it.
Image = collections.namedtuple("Image", "height width channels pixels")
# `image` and `data` are None for a damaged one.
Sample = collections.namedtuple("Sample", "label image data", defaults=[None])
# What a conversion reads: the source's name, the paths of its inputs, and the samples of each split.
Source = collections.namedtuple("Source", "kind inputs samples")


def drawn(draw, height, width, channels):
    """Smooth enough to be a picture, and different from all others."""
    step, phase = draw.randint(1, 9), draw.randrange(256)
    pixels = bytes((phase + step * (y + 2 * x) + 60 * c + draw.randrange(4)) % 256
                   for y in range(height) for x in range(width) for c in range(channels))
    return Image(height, width, channels, pixels)


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def png_of(image, draw):
    """Rows with filters drawn at random; grey or RGB."""
    height, width, channels, pixels = image
    rows, above = b"", bytes(width * channels)
    for y in range(height):
        row = pixels[y * width * channels:(y + 1) * width * channels]
        left = bytes(channels) + row
        kind = draw.randrange(3)
        other = (bytes(len(row)), left, above)[kind]
        rows += bytes([kind]) + bytes((a - b) % 256 for a, b in zip(row, other))
        above = row
    head = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in ((b"IHDR", head), (b"tEXt", b"Comment\0kept as it is"),
                           (b"IDAT", zlib.compress(rows)), (b"IEND", b"")))


def make_mnist(world, draw, counts, packed=False):
    samples = {}
    for split, prefix, count in (("train", "train", counts[0]), ("test", "t10k", counts[1])):
        made = [Sample(draw.randrange(10), drawn(draw, 28, 28, 1)) for _ in range(count)]
        files = {f"{prefix}-labels-idx1-ubyte": struct.pack(">II", 2049, count) + bytes(s.label for s in made),
                 f"{prefix}-images-idx3-ubyte": struct.pack(">4I", 2051, count, 28, 28)
                                                + b"".join(s.image.pixels for s in made)}
        for name, data in files.items():
            write(world / (name + ".gz" * packed), gzip.compress(data, mtime=0) if packed else data)
        samples[split] = made
    return Source("mnist", [world.name], samples)


def pickled_text(data):
    return b"T" + struct.pack("<I", len(data)) + data


def pickled_list(numbers):
    return b"](" + b"".join(b"K" + bytes([n]) for n in numbers) + b"e"


def pickled_batch(planes, lists):
    """As Python 2 and numpy wrote CIFAR's files: protocol 2."""
    array = (b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85U\x01b\x87R(K\x01J"
             + struct.pack("<i", len(planes)) + b"J" + struct.pack("<i", 3072)
             + b"\x86cnumpy\ndtype\nU\x02u1K\0K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89"
             + pickled_text(b"".join(planes)) + b"tb")
    items = pickled_text(b"data") + array
    items += b"".join(pickled_text(key.encode()) + pickled_list(numbers) for key, numbers in lists.items())
    return b"\x80\x02}(" + items + b"u."


def make_cifar(world, draw, classes, pickles):
    hundred = classes == 100
    names = {"train": ["train"] if hundred else [f"data_batch_{i}" for i in range(1, 6)],
             "test": ["test"] if hundred else ["test_batch"]}
    samples = {}
    for split, files in names.items():
        samples[split] = []
        for name in files:
            made = [Sample(draw.randrange(classes), drawn(draw, 32, 32, 3)) for _ in range(4)]
            planes = [b"".join(s.image.pixels[c::3] for c in range(3)) for s in made]
            labels = [s.label for s in made]
            if pickles:
                lists = ({"fine_labels": labels, "coarse_labels": [n % 20 for n in labels]} if hundred
                         else {"labels": labels})
                write(world / name, pickled_batch(planes, lists))
            else:
                write(world / f"{name}.bin", b"".join(
                    (bytes([label % 20]) if hundred else b"") + bytes([label]) + plane
                    for label, plane in zip(labels, planes)))
            samples[split] += made
    classes_text = b"".join(b"class%d\n" % i for i in range(classes))
    if not pickles:
        write(world / ("fine_label_names.txt" if hundred else "batches.meta.txt"), classes_text)
    else:
        key = b"fine_label_names" if hundred else b"label_names"
        listed = b"](" + b"".join(map(pickled_text, classes_text.split())) + b"e"
        write(world / ("meta" if hundred else "batches.meta"),
              b"\x80\x02}(" + pickled_text(key) + listed + b"u.")
    return Source(f"cifar{classes}", [world.name], samples)


def make_folder(world, draw, shapes):
    """Three classes of PNGs."""
    samples = []
    for label, name in enumerate(["ant", "bee", "cat"]):
        for number in range(6):
            image = drawn(draw, *draw.choice(shapes))
            data = png_of(image, draw)
            write(world / name / f"{name}{number}.png", data)
            samples.append(Sample(label, image, data))
    return Source("folder", [world.name], {"train": samples})


def damage(source, world):
    """Cuts one PNG short, and makes another a text."""
    samples, (cut, text) = source.samples["train"], (2, 9)
    files = sorted(world.rglob("*.png"))
    files[cut].write_bytes(samples[cut].data[:-30])
    files[text].write_bytes(b"no image at all")
    for i in cut, text:
        samples[i] = Sample(samples[i].label, None)
    return source


def make_jpegs(world, program, source):
    """The same classes, as JPEGs of their own: the bytes are what is to be kept."""
    call(program, world.parent, "convert", "folder", source, "--to", "folder", "--encode", "jpeg:85",
         "--out", world.name)
    for name in ("feedrate.json", "feedrate.xxh128"):
        (world / name).unlink()
    samples = []
    for label, name in enumerate(["ant", "bee", "cat"]):
        for file in sorted((world / name).iterdir()):
            samples.append(Sample(label, None, file.read_bytes()))
    return Source("folder", [world.name], {"train": samples})


def make_imagenet(world, program):
    call(program, world.parent, "synth", "imagenet", "--images", "10", "--out", world.name)
    listed = (HERE.parents[1] / "formats/base/imagenet_classes.txt").read_text().splitlines()
    label_of = {wnid: label for label, wnid in enumerate(sorted(line.split()[0] for line in listed))}
    samples = []
    with tarfile.open(world / "ILSVRC2012_img_train.tar") as outer:
        for member in outer:
            with tarfile.open(fileobj=io.BytesIO(outer.extractfile(member).read())) as inner:
                samples += [Sample(label_of[member.name[:9]], None, inner.extractfile(one).read()) for one in inner]
    return Source("imagenet", [f"{world.name}/ILSVRC2012_img_train.tar"], {"train": samples})


def call(program, directory, *words):
    subprocess.run([program, *words], cwd=directory, check=True, capture_output=True)


def make(program, directory):
    """{name: source}; the inputs are relative to `directory`."""
    draw, at = random.Random(1), pathlib.Path(directory)
    at.mkdir(parents=True, exist_ok=True)
    made = {"mnist": make_mnist(at / "mnist", draw, (30, 9)),
            "gz": make_mnist(at / "gz", draw, (30, 9), packed=True),
            "many": make_mnist(at / "many", draw, (1200, 200)),
            "cifar": make_cifar(at / "cifar", draw, 10, pickles=False),
            "pickles": make_cifar(at / "pickles", draw, 10, pickles=True),
            "hundred": make_cifar(at / "hundred", draw, 100, pickles=False),
            "hundred-pickles": make_cifar(at / "hundred-pickles", draw, 100, pickles=True),
            "pngs": make_folder(at / "pngs", draw, [(24, 20, 3)]),
            "odd": make_folder(at / "odd", draw, [(24, 20, 3), (1, 1, 1), (17, 40, 3), (28, 28, 1)])}
    made["damaged"] = damage(make_folder(at / "damaged", draw, [(9, 9, 3)]), at / "damaged")
    made["jpegs"] = make_jpegs(at / "jpegs", program, "odd")
    made["imagenet"] = make_imagenet(at / "imagenet", program)
    for name, text in {"order.txt": "3\n1\n2\n2\n0\n7\n", "weights.txt": "1\n" * 30, "words.txt": "no\n"}.items():
        write(at / name, text.encode())
    return made

