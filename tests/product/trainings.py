"""Trainings: a resumed one equals one that was never interrupted, whatever interrupts it."""

import json
import math
import signal
import struct

import table
from session import expect

PATHS = ["order.txt", "weights.txt"]
OUTPUTS = ["--log", "--mllog", "--metrics", "--tensorboard"]
# Not for a run that is to be repeated bit by bit, or set here.
WITHOUT = {"--network", "--preset", "--mode", "--resume", "--steps", "--epochs", "--seconds", "--checkpoint", "--out",
           "--compute-threads", "--device", "--json", "--batch", "--mix", "--precision", "--resident", "--no-upload",
           "--recipe", *OUTPUTS}


def tensors(path):
    """{name: bytes} of a safetensors file, and its metadata."""
    data = path.read_bytes()
    size = struct.unpack_from("<Q", data)[0]
    head = json.loads(data[8:8 + size])
    about = head.pop("__metadata__")
    expect(max(one["data_offsets"][1] for one in head.values()) == len(data) - 8 - size, f"{path}: its size")
    return {name: data[8 + size + one["data_offsets"][0]:8 + size + one["data_offsets"][1]]
            for name, one in head.items()}, about


def expect_same(session, left, right):
    (left, _), (right, _) = tensors(session / left), tensors(session / right)
    different = [name for name in left.keys() | right.keys() if left.get(name) != right.get(name)]
    expect(not different, f"differs from a training that was never interrupted: {different}")


def line_of(session, world, commands):
    random = session.random
    name, validation = random.sample(world.same_images(random), 2)
    world.bring(session, name, validation)
    options = table.pick(commands["train"][1], random, PATHS, without=WITHOUT)
    if "--val-every" in options or "--val" in options:
        options["--val"] = validation
    if "--weights" in options:
        options["--weights"] = random.choice(["weights.txt", "balanced"])
    return ["train", name, "--network", "lenet", "--batch", random.choice([4, 7, 16]), "--compute-threads", 1,
            *table.words(options)], options


def resumed(session, world, commands):
    """Stopped at a step by --steps, or at any moment by a signal; then on to the same end."""
    random = session.random
    line, options = line_of(session, world, commands)
    steps = random.choice([3, 6, 9])
    whole = session.run(*line, "--steps", steps, "--checkpoint", "whole", "--json")
    if whole.code != 0:
        expect(not (session / "whole").exists() or whole.code == 1, "misused, but left a checkpoint")
        return
    expect(whole.json()["steps"] == steps, "other steps than it was asked for")
    if random.random() < 0.5 and "--schedule" not in options:  # a cosine ends with the steps asked for
        session.run(*line, "--steps", random.randrange(1, steps), "--checkpoint", "a")
    else:
        how = random.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
        begin = [] if "--checkpoint-every" in options else ["--checkpoint-every", 1]
        said = session.run(*line, "--steps", steps, "--checkpoint", "a", *begin,
                           stop=(how, random.uniform(0.3, 1.1) * whole.seconds), may_change=["a"])
        expect(said.code in (0, -how), f"ended with {said.code}: {said.errors}")
    if not (session / "a").exists():
        return
    if int(tensors(session / "a")[1]["step"]) < steps:
        elsewhere(session, world, line, steps)
        said = session.run(*line, "--steps", steps, "--resume", "a", "--checkpoint", "b")
        expect(said.code == 0, f"does not resume: {said.errors}")
        expect_same(session, "b", "whole")
    else:
        expect_same(session, "a", "whole")
    again = session.run(*line, "--steps", steps, "--resume", "whole", "--checkpoint", "c", "--log", "log")
    expect(again.code == 0 and "nothing is left" in again.errors, f"a whole training: {again.errors}")
    expect(not (session / "log").exists(), "a training that was whole logs something")


def elsewhere(session, world, line, steps):
    """The same images in another format: in the same order they lead to the same end, in another not on."""
    names = world.alike(line[1])
    name = session.random.choice([name for name in names if name != line[1]])
    world.bring(session, name)
    said = session.run("train", name, *line[2:], "--steps", steps, "--resume", "a", "--checkpoint", "c")
    expect(said.code == 0, f"does not resume on {name}: {said.errors}")
    expect_same(session, "c", "whole")
    if "folder" not in world.datasets or line[1].startswith("cifar"):
        return
    world.bring(session, "folder")
    said = session.run("train", "folder", *line[2:], "--steps", steps, "--resume", "a", "--checkpoint", "d")
    expect(said.code == 1, "resumes on images in another order")
    expect(not (session / "d").exists(), "was refused, but left a checkpoint")


def signalled(session, world, commands):
    """A long training with outputs ends by the signal, with a checkpoint that can be read, or diverges before."""
    random = session.random
    line, options = line_of(session, world, commands)
    outputs = {name: "made" + name[2:] + ".prom" * (name == "--metrics") for name in random.sample(OUTPUTS, 2)}
    how = random.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    said = session.run(*line, *table.words(outputs), "--epochs", 100000, "--checkpoint", "a",
                       stop=(how, random.uniform(0.4, 1.2)))
    expect(said.code in (1, 2, -how), f"ended with {said.code}")
    if not (session / "a").exists():
        return
    if said.code == 1:
        expect("not finite" in said.errors, said.errors)
    else:
        same = {name: options[name] for name in ("--mean", "--deviation") if name in options}
        again = session.run("train", line[1], "--network", "lenet", "--mode", "infer", "--steps", 1, "--resume", "a",
                            *table.words(same))
        expect(again.code == 0, f"its checkpoint: {again.errors}")


def features(session, world, commands):
    """A row of finite numbers for every image, the same at other threads and from another format."""
    random = session.random
    name, other = random.sample(world.same_images(random), 2)
    world.bring(session, name, other)
    session.run("train", name, "--network", "lenet", "--steps", 2, "--batch", 8, "--checkpoint", "a")
    rows = []
    for path, threads in ((name, 0), (other, 2)):
        line = ["train", path, "--network", "lenet", "--mode", "features", "--resume", "a", "--batch",
                random.choice([3, 8, 64]), "--threads", threads]
        said = session.run(*line, "--out", f"{threads}.npy")
        expect(said.code == 0, said.errors)
        data = (session / f"{threads}.npy").read_bytes()
        head = data[10:10 + struct.unpack_from("<H", data, 8)[0]].decode()
        values = struct.unpack(f"<{(len(data) - 10 - len(head)) // 4}f", data[10 + len(head):])
        expect(f"({len(world.stored(name))}, " in head and "'<f4'" in head, f"its head is {head}")
        expect(all(map(math.isfinite, values)), "features that are no numbers")
        rows.append(values)
    expect(len(rows[0]) == len(rows[1]) and all(math.isclose(a, b, rel_tol=1e-3, abs_tol=1e-4)
                                                for a, b in zip(*rows)), "other features of the same images")
    refused = session.run(*line, "--out", session.random.choice(["a", f"{other}/feedrate.json"]))
    expect(refused.code in (1, 2), "features over an input")


CASES = {resumed: 3, signalled: 2, features: 1}
