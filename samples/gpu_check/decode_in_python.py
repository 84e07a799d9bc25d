"""Random crops of 224 pixels in the memory of the GPU, from a script in Python: packed JPEGs by
feedrate.torch, and the same photographs by torchvision's nvJPEG.

    decode_in_python.py PACKED ARCHIVE BATCH SECONDS     a dataset, and the tar of tars that it came from

Prints a JSON object; exits with 3 and a sentence where feedrate or PyTorch's GPU cannot be used."""

import importlib
import json
import sys
import tarfile
import time

ABSENT = 3
BATCHES_COMPARED = 4
RECIPE = "imagenet-train"
KINDS = ({}, {"layout": "nchw"}, {"pixels": "f32", "mean": 127.5, "deviation": [58.4, 57.1, 57.4]},
         {"pixels": "f16", "layout": "nhwc", "mean": [123.7, 116.3, 103.5], "deviation": 57.4})


def main():
    packed, archive, batch, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    try:
        # PyTorch first: what feedrate carries may be older than what PyTorch needs.
        torch = importlib.import_module("torch")
        feedrate_torch = importlib.import_module("feedrate.torch")
    except ImportError as reason:
        print(reason, file=sys.stderr)
        return ABSENT
    if not torch.cuda.is_available():
        print("PyTorch sees no GPU", file=sys.stderr)
        return ABSENT

    def loader(**more):
        return feedrate_torch.DataLoader(packed, RECIPE, batch_size=batch, device="cuda", seed=1,
                                         drop_last=True, **more)

    found = {"batches compared": BATCHES_COMPARED * (1 + len(KINDS)),
             "same bits": (all(same_bits(torch, loader, **kind) for kind in KINDS)
                           and same_bits_late(torch, loader))}
    found["images_per_second"] = round(rate(torch, epochs(loader(decode="device")), batch, seconds))
    found["by the CPU"] = round(rate(torch, epochs(loader()), batch, seconds))
    found |= nvjpeg(torch, archive, batch, seconds)
    print(json.dumps(found))
    return 0


def pairs(loader, **kind):
    """(decoded on the GPU, decoded by the CPU): a few batches of each."""
    both = zip(loader(decode="device", **kind), loader(**kind))
    for compared in range(BATCHES_COMPARED):
        try:
            yield next(both)  # and holds nothing of it
        except StopIteration:
            raise SystemExit(f"only {compared} batches were there to compare") from None


def same_bits(torch, loader, **kind):
    """Whether the GPU's tensors are those of the CPU."""
    return all(own.dtype == expected.dtype and own.stride() == expected.stride() and torch.equal(own, expected)
               and torch.equal(labels, of_expected)
               for (own, labels), (expected, of_expected) in pairs(loader, **kind))


def same_bits_late(torch, loader):
    """The same where the script's stream lags behind, while later batches are decoded: what it queued on
    a tensor reads that tensor, though the script has let go of it."""
    compared = []
    for (own, _), (expected, _) in pairs(loader):
        torch.cuda._sleep(200_000_000)  # cycles: some 0.1 s
        compared.append((own ^ expected).any())
        del own, expected
    return not any(one.item() for one in compared)


def epochs(loader):
    while True:
        yield from loader


def rate(torch, batches, batch, seconds):
    """Images a second that are whole on the GPU; the first batches, which start everything, are left out."""
    for _ in range(3):
        next(batches)
    torch.cuda.synchronize()
    began, count = time.perf_counter(), 0
    while count == 0 or time.perf_counter() - began < seconds:
        next(batches)
        count += 1
    torch.cuda.synchronize()
    return count * batch / (time.perf_counter() - began)


def files_of(archive):
    """The bytes of each photograph of ILSVRC2012_img_train.tar."""
    with tarfile.open(archive) as classes:
        for entry in classes:
            with tarfile.open(fileobj=classes.extractfile(entry)) as photographs:
                for photograph in photographs:
                    yield photographs.extractfile(photograph).read()


def nvjpeg(torch, archive, batch, seconds):
    """The same photographs, their files held in memory; {} without torchvision."""
    try:
        io = importlib.import_module("torchvision.io")
        transforms = importlib.import_module("torchvision.transforms.v2")
    except ImportError:
        return {}
    files = [torch.frombuffer(bytearray(file), dtype=torch.uint8) for file in files_of(archive)]
    crop = transforms.Compose([transforms.RandomResizedCrop(224, antialias=True),
                               transforms.RandomHorizontalFlip()])

    def decoded():
        at = 0
        while True:
            chosen = [files[(at + i) % len(files)] for i in range(batch)]
            at += batch
            yield io.decode_jpeg(chosen, mode=io.ImageReadMode.RGB, device="cuda")

    def cropped():
        for images in decoded():
            yield torch.stack([crop(image) for image in images])

    return {"nvjpeg decodes": round(rate(torch, decoded(), batch, seconds)),
            "nvjpeg and crops": round(rate(torch, cropped(), batch, seconds))}


if __name__ == "__main__":
    sys.exit(main())
