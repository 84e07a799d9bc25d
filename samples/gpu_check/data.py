"""The datasets: made images, as many as the largest resident batches need."""

IMAGES = {"mnist": 12800, "cifar10": 12800, "imagenet": 2048}
# The photographs as LMDBs of JPEGs, of JPEGs without Huffman codes, and of pixels.
ENCODINGS = {"imagenet-jpeg": [], "imagenet-packed": ["--encode", "packed"],
             "imagenet-raw": ["--encode", "raw"]}


def make(check, name):
    """`NAME` for training, `NAME-all` with a part for validation, or one of the encodings."""
    out = check.out / "data" / name
    if name in ENCODINGS:
        check.run("convert", "dataset", check.dataset("imagenet"), "--to", "lmdb", *ENCODINGS[name],
                  "--out", out)
        return
    source, _, parts = name.partition("-")
    archive = check.out / "archives" / source
    if not archive.exists():
        check.run("synth", source, "--images", IMAGES[source], "--out", archive)
    check.run("convert", source, archive, "--to", "recordio", "--split", parts or "train", "--out",
              out)


def images(check):
    check.dataset("imagenet")
    return {"imagenet": IMAGES["imagenet"]}


def encodings(check):
    for name in ENCODINGS:
        check.dataset(name)
    return {}
