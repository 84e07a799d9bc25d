"""verify, inspect, mean and index say what an independent reading finds."""

import math

import draws
import readers
import table
from session import expect

PATHS = ["order.txt", "none"]


def described(session, world, commands):
    random = session.random
    name = random.choice(list(world.datasets))
    world.bring(session, name)
    found = world.stored(name)
    command = random.choice(["verify", "inspect", "mean", "index"])
    options = table.pick(commands[command][1], random, PATHS, without={"--json", "--against", "--out"})
    if "--sheet" in options:
        options["--sheet"] = "sheet.png"
    if command == "inspect":
        options["--all"] = None
    if command == "mean" and random.random() < 0.5:
        options["--out"] = random.choice(["m.nd", "m.xml", "m.binaryproto"])
    before = session.contents()
    may_change = [name] if command == "index" else []
    said = session.run(command, name, *table.words(options), "--json", may_change=may_change)
    if said.code != 0:
        expect(session.contents() == before, "failed, but left something")
        return
    result = said.json()
    if command == "index":
        after = session.contents()
        expect(all(after.get(path) == before[path] for path in before), "another index than the conversion's")
    elif command == "inspect":
        expect(result["samples"] == len(found), f"{result['samples']} samples of {len(found)}")
        counts = {str(label): sum(one == label for one, _ in found) for label, _ in found}
        said_counts = {label: count for label, count in result["class_counts"].items() if count}
        expect(said_counts == counts, "other counts of classes")
        codecs = {codec: sum(readers.codec_of(image) == codec for _, image in found)
                  for codec in {readers.codec_of(image) for _, image in found}}
        expect(result["looked_at"]["codecs"] == codecs, "other codecs")
    elif all(readers.codec_of(image) in ("raw", "png") for _, image in found):
        images = [(label, readers.decoded(image)) for label, image in found]
        if command == "verify":
            expect((result["digest"], result["set_digest"]) == draws.dataset_digests(images), "another digest")
        else:
            check_mean(result, [image for _, image in images])


def check_mean(result, images):
    channels = images[0].channels
    for c in range(channels):
        values = [value for image in images for value in image.pixels[c::channels]]
        mean = sum(values) / len(values)
        deviation = math.sqrt(sum(value * value for value in values) / len(values) - mean * mean)
        expect(math.isclose(result["mean"][c], mean, rel_tol=1e-12), f"the mean is {mean}")
        expect(math.isclose(result["deviation"][c], deviation, rel_tol=1e-9), f"the deviation is {deviation}")


def compared(session, world, commands):
    """verify --against finds equal what is equal, in the same order, and no other."""
    random = session.random
    left, right = random.choice(list(world.datasets)), random.choice(list(world.datasets))
    world.bring(session, left, right)
    said = session.run("verify", left, "--against", right, "--json")
    samples = [[(label, bytes(readers.decoded(image).pixels)) for label, image in world.stored(name)
                if readers.codec_of(image) in ("raw", "png")] for name in (left, right)]
    if all(samples):
        expect((said.code == 0) == (samples[0] == samples[1]), f"ended with {said.code}")


def some_file(session, name):
    files = sorted(file for file in (session / name).rglob("*") if file.is_file())
    return session.random.choice(files)


def damaged(session, world, commands):
    """A byte is changed: verify finds it, or nothing that is read has changed; and nothing crashes."""
    random = session.random
    name = random.choice(list(world.datasets))
    world.bring(session, name)
    file = some_file(session, name)
    at, byte = random.randrange(file.stat().st_size), random.randrange(256)
    session.shell(f"chmod u+w {file.relative_to(session.directory)} && printf '\\{byte:03o}' | "
                  f"dd of={file.relative_to(session.directory)} bs=1 seek={at} conv=notrunc status=none")
    if session.run("verify", name).code == 0:
        expect(readers.stored(session / name, world.datasets[name]) == world.stored(name), "verify misses damage")
    for words in (["inspect", name, "--all"], ["mean", name],
                  ["convert", "dataset", name, "--to", "lmdb", "--out", "a"],
                  ["load", name, "--on-bad", random.choice(["fail", "replace", "skip"])],
                  ["train", name, "--network", "lenet", "--steps", "1"]):
        session.run(*words)


def piped(session, world, commands):
    """A pipe in place of a file is refused, not waited for."""
    random = session.random
    name = random.choice(list(world.datasets))
    world.bring(session, name)
    file = some_file(session, name).relative_to(session.directory)
    session.shell(f"rm {file} && mkfifo {file}")
    for words in (["verify", name], ["inspect", name], ["load", name],
                  ["convert", "dataset", name, "--to", "lmdb", "--out", "a"]):
        expect(session.run(*words).code >= 0, "waits for a pipe")


def shorten(session, name, container):
    """Removes some samples, as if there had never been more."""
    random, path = session.random, session / name
    if container == "folder":
        files = sorted(str(file.relative_to(session.directory)) for file in path.glob("*/*"))
        return session.shell("rm " + " ".join(random.sample(files, random.choice([1, 2, 5]))))
    if container == "png-map":
        index, = (file.name for file in path.glob("*_map.txt"))
        return session.shell(f"sed -i '{random.randrange(2, 20)},$d' {name}/{index}")
    end, file = random.choice(readers.shorter(path, container))
    marks = f" && truncate -s +1024 {name}/{file.name}" * (container == "webdataset")  # the end of a tar
    session.shell(f"truncate -s {end} {name}/{file.name}{marks} && rm -f {name}/*.idx {name}/*.lst")


def shortened(session, world, commands):
    """Part of a dataset and its index are gone: nothing takes the rest for the whole."""
    random = session.random
    name = random.choice([name for name, container in world.datasets.items() if container != "lmdb"])
    world.bring(session, name)
    shorten(session, name, world.datasets[name])
    lines = [["load", name], ["train", name, "--network", "lenet", "--steps", 1, "--batch", 2], ["mean", name],
             ["convert", "dataset", name, "--to", "recordio", "--out", "a"]]
    for line in random.sample(lines, 2):
        said = session.run(*line)
        expect(said.code == 1 and "feedrate.json states" in said.errors, f"reads what is left: {said.errors}")
    said = session.run("verify", name)
    expect(said.code == 1, f"verify finds nothing: {said.out.decode()}{said.errors}")
    session.run("inspect", name)


CASES = {described: 4, compared: 1, damaged: 2, piped: 1, shortened: 2}
