"""Conversions: what comes out is what went in, also after a kill, in parts, and when inputs change."""

import json
import signal

import draws
import readers
import table
from session import expect

KNOWN = {"--encode", "--resize", "--shuffle", "--shards", "--limit", "--gzip", "--crops", "--fix", "--on-bad",
         "--threads", "--json"}
FIXED = {"--to", "--out", "--split", "--part", "--join", "--resume", "--boxes"}  # set here
OUT, UNFINISHED = ["--out", "a"], ["a.part*"]
MARK = "a/.feedrate-partial"  # of one that was killed right after its last step
SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


def resized(size, how):
    """The sides of an image after --resize."""
    height, width = size
    if not how:
        return height, width
    kind, _, length = how.partition(":")
    if not length:
        return tuple(map(int, how.split("x")))[::-1]
    from_side = (min if kind == "short" else max)(height, width)
    return tuple(max(1, side * int(length) / from_side) for side in (height, width))


def expected(samples, options):
    """The samples in the order of writing."""
    if "--shuffle" in options:
        samples = [samples[i] for i in draws.converted_order(int(options["--shuffle"]), len(samples))]
    samples = samples[:int(options.get("--limit", len(samples)))]
    return [sample for sample in samples if sample.image or sample.data]


def check_image(sample, found, options):
    label, image = found
    codec, encode = readers.codec_of(image), options.get("--encode", "keep").partition(":")[0]
    expect(label == sample.label, f"label {label} of a sample of class {sample.label}")
    if encode != "keep":
        expect(codec == encode, f"an image is {codec}, not {encode}")
    if sample.image or sample.data:
        height, width, channels = sample.image[:3] if sample.image else readers.shape_of(sample.data)
        sides = resized((height, width), options.get("--resize"))
        shape = readers.shape_of(image)
        expect(shape[2] == channels and all(abs(a - b) < 1 for a, b in zip(shape, sides)),
               f"{height} x {width} became {shape}")
    if "--resize" in options:
        return
    if codec in ("raw", "png") and sample.image:
        expect(readers.decoded(image) == sample.image, "other pixels")
    if encode == "keep" and sample.data:
        expect(image == sample.data, "other bytes than the image that was to be kept")


def check_dataset(session, path, container, samples, options):
    """Compares a dataset with what it was made from, and its digests with those computed here."""
    found = readers.stored(session / path, container)
    wanted = expected(samples, options)
    expect(len(found) == len(wanted), f"{len(found)} samples of {len(wanted)}")
    by_class = container == "folder"  # then by name: compared as a set
    if by_class:
        expect(sorted(label for label, _ in found) == sorted(s.label for s in wanted), "other labels")
        if not {"--encode", "--resize"} & set(options) and all(s.data for s in wanted):
            expect(sorted(found) == sorted((s.label, s.data) for s in wanted), "other images")
    else:
        for sample, pair in zip(wanted, found):
            check_image(sample, pair, options)
    sidecar = json.loads((session / path / "feedrate.json").read_text())
    expect(sidecar["count"] == len(found), "the sidecar's count")
    expect(sum(sidecar["class_counts"]) == len(found), "the sidecar's counts of classes")
    said = session.run("verify", path, "--json")
    expect(said.code == 0, f"verify: {said.errors}{said.out.decode()}")
    if all(readers.codec_of(image) in ("raw", "png") for _, image in found):
        digests = draws.dataset_digests([(label, readers.decoded(image)) for label, image in found])
        verified = said.json()
        expect((verified["digest"], verified["set_digest"]) == digests, "verify prints another digest")
        expect(sidecar["set_digest"] in ("", digests[1]), "the sidecar has another set_digest")
        expect(by_class or sidecar["digest"] in ("", digests[0]), "the sidecar has another digest")
    return found


def tree(path):
    """{name: bytes}; an LMDB's pages may lie elsewhere, so its entries."""
    found = {}
    for file in sorted(path.rglob("*")):
        if file.is_file():
            found[str(file.relative_to(path))] = (readers.lmdb_entries(file) if file.name == "data.mdb"
                                                  else file.read_bytes())
    return found


def expect_same(session, made, reference):
    made, reference = tree(session / made), tree(session / reference)
    different = [name for name in made.keys() | reference.keys() if made.get(name) != reference.get(name)]
    expect(not different, f"differs from an uninterrupted conversion: {different}")


def choose(session, world, commands, names):
    """A source of the world in the session, the line without --out, and its options."""
    name = session.random.choice(names)
    source = world.sources[name]
    world.bring(session, source.inputs[0].partition("/")[0])
    options = table.pick(commands["convert"][1], session.random, ["words.txt", "order.txt"], without=FIXED)
    container = session.random.choice(commands["convert"][1]["--to"].words)
    split = session.random.choice(list(source.samples))
    words = ["convert", source.kind, *source.inputs, "--to", container, *table.words(options)]
    if len(source.samples) > 1:
        words += ["--split", split]
    return source, container, split, words, options


SMALL = ["mnist", "gz", "cifar", "pickles", "hundred", "hundred-pickles", "pngs", "odd", "jpegs", "damaged", "lmdb",
         "imagenet"]


def nothing_final(session, path):
    expect(not (session / path).exists(), f"failed, but {path} is there")


def plain(session, world, commands):
    """One conversion, and one of what it made; then everything that can describe it."""
    source, container, split, words, options = choose(session, world, commands, SMALL)
    said = session.run(*words, *OUT)
    if said.code != 0:
        return nothing_final(session, "a")
    known = options.keys() <= KNOWN
    if known:
        sound = all(sample.image or sample.data for sample in source.samples[split])
        expect(sound or "skip" in words or "--limit" in words, "converts damaged images")
        check_dataset(session, "a", container, source.samples[split], options)
    resume = session.random.choice([[], ["--resume"]])
    again = session.run(*words, *OUT, *resume)
    if resume:
        expect(again.code == 0, "the output is whole, and --resume does not say so")
    else:
        expect(again.code in (1, 2), "the output exists, and was converted again")
    to = session.random.choice(commands["convert"][1]["--to"].words)
    if session.run("convert", "dataset", "a", "--to", to, "--out", "b").code == 0:
        left, right = (session.run("verify", path, "--json").json()["set_digest"] for path in "ab")
        expect(left == right, "converted again, it holds other images")


def interrupted(session, world, commands):
    """Killed at a random moment, once or twice, it goes on and makes the same bytes."""
    _, _, _, words, _ = choose(session, world, commands, [*SMALL, "many", "many", "many"])
    reference = session.run(*words, "--out", "whole")
    for _ in range(session.random.choice([1, 2])):
        stop = session.random.choice(SIGNALS), session.random.uniform(0, 1.2 * reference.seconds)
        said = session.run(*words, *OUT, *session.random.choice([[], ["--resume"]]), stop=stop, may_change=UNFINISHED)
        if (session / "a").exists():
            break
    if reference.code == 0 and not (session / "a").exists():
        said = session.run(*words, *OUT, "--resume", may_change=UNFINISHED)
        expect(said.code == 0, f"does not go on after a kill: {said.errors}")
    if (session / MARK).exists():
        session.run(*words, *OUT, "--resume", may_change=[MARK])
    if reference.code == 0:
        expect_same(session, "a", "whole")
    else:
        nothing_final(session, "a")


def parts(session, world, commands):
    """Parts in any order, some of them killed, joined."""
    _, _, _, words, options = choose(session, world, commands, [*SMALL, "many"])
    count = session.random.choice([2, 3])
    if "--shards" not in options:
        words += ["--shards", str(count + session.random.randrange(3))]
    reference = session.run(*words, "--out", "whole")
    done = []
    for part in session.random.sample(range(1, count + 1), count):
        line = [*words, *OUT, "--part", f"{part}/{count}"]
        if session.random.random() < 0.3:
            stop = session.random.choice(SIGNALS), session.random.uniform(0, reference.seconds)
            session.run(*line, stop=stop, may_change=UNFINISHED)
        done.append(session.run(*line, "--resume", may_change=UNFINISHED).code)
    joined = session.run("convert", "--join", "a", *session.random.choice([[], ["--json"]]), may_change=UNFINISHED)
    if any(done):
        expect(joined.code != 0, "joined, though a part failed")
        return nothing_final(session, "a")
    expect(reference.code == 0 and joined.code == 0, f"parts succeed, but not the whole: {joined.errors}")
    expect_same(session, "a", "whole")


def changes(session, source):
    """A line that changes the inputs."""
    first = source.inputs[0]
    files = sorted(str(file.relative_to(session.directory)) for file in (session / first).rglob("*")
                   if file.is_file())
    file = session.random.choice(files)
    if source.kind == "folder":
        move = f"mv {file} {first}/cat/" if "/ant/" in file else f"mv {file} {first}/ant/moved.png"
        return session.random.choice([move, f"rm {file}", f"cp {file} {first}/bee/more.png",
                                      f"cp {files[0]} {files[-1]}"])
    if source.kind == "dataset" and session.random.random() < 0.7:
        return f"rm -r {first} && cp -r other {first}"
    return f"printf '\\0' | dd of={file} bs=1 seek=40 conv=notrunc status=none"


def changed(session, world, commands):
    """Inputs or options that change between a kill and --resume are noticed, or all is done anew."""
    names = ["mnist", "cifar", "pngs", "odd", "jpegs", "many", "lmdb"]
    source, _, _, words, _ = choose(session, world, commands, names)
    world.bring(session, "other")
    first = session.run(*words, "--out", "whole")
    if session.random.random() < 0.8:
        stop = session.random.choice(SIGNALS), session.random.uniform(0, 1.2 * first.seconds)
        session.run(*words, *OUT, stop=stop, may_change=UNFINISHED)
    else:
        session.run(*words, *OUT)
    after = words
    if session.random.random() < 0.75:
        session.shell(changes(session, source))
    else:
        at = words.index("--to")
        after = words[:at] + ["--to", words[at + 1], *table.words(
            table.pick(commands["convert"][1], session.random, ["words.txt"], without=FIXED))]
        after += words[words.index("--split"):] if "--split" in words else []
    was_there = (session / "a").exists()
    resumed = session.run(*after, *OUT, "--resume", may_change=UNFINISHED)
    fresh = session.run(*after, "--out", "fresh")
    if was_there and resumed.code != 0:
        expect(resumed.code in (1, 2), "ends otherwise than by an error")
    elif resumed.code == 0:
        expect(fresh.code == 0, "succeeds only by resuming")
        expect_same(session, "a", "fresh")
    else:
        nothing_final(session, "a")


def entangled(session, world, commands):
    """An output inside an input that is read as a whole, and the input inside an output."""
    _, _, _, words, _ = choose(session, world, commands, ["pngs", "odd", "jpegs", "damaged", "lmdb"])
    inside = words[2].partition("/")[0]
    out = session.random.choice([inside, f"{inside}/new", f"{inside}/a/b", f"./{inside}/../{inside}/new", "."])
    before = session.contents()
    said = session.run(*words, "--out", out)
    expect(said.code in (1, 2), f"writes {out}, which is inside of its input")
    expect(session.contents() == before, f"left something in its input {inside}")


def foreign(session, world, commands):
    """What somebody else has under the name of an unfinished conversion is kept."""
    random = session.random
    _, _, _, words, options = choose(session, world, commands, SMALL)
    name = random.choice(list(world.datasets))
    world.bring(session, name)
    at = random.choice(["a.partial", "a.part-1-of-2.partial"])
    session.shell(random.choice([f"cp words.txt {at}", f"ln -s {name} {at}", f"ln -s nowhere {at}",
                                 f"mkdir {at} && cp words.txt {at}", f"mkdir -p {at}/cat", f"mv {name} {at}"]))
    part = ["--part", "1/2", *([] if "--shards" in options else ["--shards", 2])] if ".part-" in at else []
    for resume in random.choice([[[]], [["--resume"]], [[], ["--resume"]]]):
        said = session.run(*words, *OUT, *part, *resume)
        expect(said.code in (1, 2), f"converts into what {at} was")


CASES = {plain: 6, interrupted: 5, parts: 3, changed: 3, entangled: 1, foreign: 2}
