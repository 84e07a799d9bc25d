"""Loads: the digest of an epoch, computed here; and the same at any number of threads, in any format."""

import json
import signal

import draws
import readers
import table
from session import expect

# What the oracle understands; of --order it takes the file order.txt.
KNOWN = {"--batch", "--threads", "--pixels", "--layout", "--mean", "--deviation", "--epochs", "--seed",
         "--no-shuffle", "--shuffle-window", "--last", "--rank", "--ranks", "--from", "--order", "--io-threads",
         "--no-crop-index", "--cold", "--emulate", "--seconds", "--on-bad", "--bad-budget", "--json", "--trace",
         "--log", "--metrics", "--quarantine"}
OUTPUTS = ("--trace", "--log", "--metrics", "--quarantine")
LIMITED = {"--decode", "--device", "--no-digest"}  # of no effect here, or without a digest


def numbers(text, default):
    return [float(part) for part in text.split(",")] if text else [default]


def predicted(samples, options):
    """The digest of the first epoch, by draws.py; None where there is no batch."""
    size, order = len(samples), None
    if "--order" in options:
        order = [3, 1, 2, 2, 0, 7]
        size = len(order)
    epoch, _, position = options.get("--from", "0").partition(":")
    positions = list(range(size))
    if "--no-shuffle" not in options and "--order" not in options:
        positions = draws.loaded_order(size, int(options.get("--seed", 1)), int(epoch),
                                       int(options.get("--shuffle-window", 0)))
    chosen = [order[i] if order else i for i in positions]
    batches = draws.batches(chosen, int(position or 0), int(options.get("--batch", 64)),
                            options.get("--last", "partial"), int(options.get("--rank", 0)),
                            int(options.get("--ranks", 1)))
    images = [draws.values(image, options.get("--pixels", "u8"), options.get("--layout"),
                           numbers(options.get("--mean"), 0), numbers(options.get("--deviation"), 1))
              for _, image in samples]
    return draws.epoch_digest(batches, [label for label, _ in samples], images)


def digests(session, world, commands):
    """Two or three options, then the same at other threads and in another format."""
    random = session.random
    name, other = random.sample(world.same_images(random), 2)
    world.bring(session, name, other)
    options = table.pick(commands["load"][1], random, ["order.txt"], without=LIMITED | {"--mix"})
    for output in OUTPUTS:
        if output in options:
            options[output] = "made" + output[2:] + ".prom" * (output == "--metrics")
    if options.keys() >= {"--from", "--epochs"}:
        before = int(options["--from"].partition(":")[0])
        options["--epochs"] = str(before + int(options["--epochs"]))
    if "--weights" in options:
        options["--weights"] = random.choice(["weights.txt", "balanced"])
    if options.keys() & {"--rank", "--ranks"}:
        options["--ranks"] = str(random.choice([1, 2, 3]))
        options["--rank"] = str(random.randrange(int(options["--ranks"])))
    line = table.words(options) + [] if "--json" in options else [*table.words(options), "--json"]
    first = session.run("load", name, *line)
    if first.code != 0:
        return
    digest = first.json()["digest"]
    if options.keys() <= KNOWN:
        samples = [(label, readers.decoded(image)) for label, image in world.stored(name)]
        expect(digest == predicted(samples, options), f"another digest than {predicted(samples, options)}")
    if not options.keys() & {"--epochs", "--seconds"}:
        state, epoch = first.json()["state"], int(options.get("--from", "0").partition(":")[0])
        expect((state["epoch"], state["position"]) == (epoch + 1, 0), f"epoch {epoch} ended, and the state is {state}")
    for output in OUTPUTS:
        expect(output not in options or (session / options[output]).exists(), f"{output} was not written")
    if "--log" in options:
        for row in (session / options["--log"]).read_text().splitlines():
            json.loads(row)
    options = {name: text for name, text in options.items() if name not in (*OUTPUTS, "--threads", "--json")}
    threads = random.choice(["0", "1", "3", "auto"])
    again = session.run("load", other, *table.words(options), "--threads", threads, "--json")
    expect(again.code == 0, f"loads {name} but not {other}: {again.errors}")
    expect(again.json()["digest"] == digest, "another digest by other threads, or of another format")


def stopped(session, world, commands):
    """A signal ends a long load, which prints what it has."""
    random = session.random
    name = random.choice(world.same_images(random))
    world.bring(session, name)
    how = random.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    options = table.pick(commands["load"][1], random, ["order.txt"],
                         without=LIMITED | {"--mix", "--epochs", "--seconds", "--json", *OUTPUTS})
    said = session.run("load", name, *table.words(options), "--seconds", 60, "--json",
                       stop=(how, random.uniform(0.3, 0.8)))
    expect(said.code in (1, 2, -how), f"ended with {said.code}")
    expect(said.code != -how or not said.out or said.json()["complete"] is False, "says that it was complete")


CASES = {digests: 6, stopped: 1}
