"""Any command with any options, files that are there among them: nothing may crash, hang, change an input
or leave something behind a misuse."""

import signal

import table
from session import expect

# What a command needs, or what keeps it short; "<…>" is replaced.
BASES = {
    "convert": ["<source>", "--out", "made"], "status": ["made"], "inspect": ["<dataset>"],
    "verify": ["<dataset>"], "mean": ["<dataset>"], "index": ["<dataset>"], "list": [],
    "synth": ["mnist", "--out", "made", "--images", "20"], "fetch": ["mnist", "--out", "made", "--from", "gz"],
    "load": ["<dataset>"], "train": ["<dataset>", "--network", "lenet", "--steps", "2"],
    "time": ["lenet", "--seconds", "0.05"],
    "bench": ["<dataset>", "--seconds", "0.05", "--repeat", "1", "--threads", "0"],
    "report": ["results.jsonl"], "advise": ["<dataset>", "--seconds", "0.5", "--target", "1000"], "diagnose": ["true"], "schema": [],
    "completion": ["bash"], "man": ["load"],
}
LONG = {"--network", "--preset"}  # of many layers; now and then


def walk(session, world, commands):
    random = session.random
    command = random.choice(list(commands))
    arguments, options = commands[command]
    dataset = random.choice(list(world.datasets))
    source = world.sources[random.choice(["mnist", "pngs", "jpegs", "cifar"])]
    inputs = {"<dataset>": [dataset], "<source>": source.inputs}
    base = [word for one in BASES.get(command, []) for word in inputs.get(one, [one])]
    own = [path for path in [dataset, *source.inputs, "gz", "results.jsonl"] if path in base] or [dataset]
    world.bring(session, "lenet.st", *{path.partition("/")[0] for path in own})
    files = sorted(path for path in session.contents() if path.startswith(own[0]))
    others = ["lenet.st", "order.txt"]
    paths = ["new", "new.npy", "no/such/new", random.choice(files), own[0], *others, "."]
    words = base or [table.value(one, random, paths) for one in arguments]
    if command == "convert":
        words = [source.kind, *words, "--to", random.choice(options["--to"].words)]
    without = {word for word in words if word.startswith("--")} | (LONG if random.random() < 0.97 else set())
    chosen = table.pick(options, random, paths, without, odd=0.12)
    # What is named once is an output, or is only read; what is named twice is an input too.
    may_change = [path for path in others if list(chosen.values()).count(path) == 1]
    stop = (random.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL]), random.uniform(0, 0.5))
    said = session.run(command, *words, *table.words(chosen), stop=stop if random.random() < 0.2 else None, limit=6,
                       may_change=[*may_change, *own * (command == "index")])
    final = {"convert": "made", "fetch": "made/*.gz"}
    if said.code in (1, 2) and command in final:
        expect(not list(session.directory.glob(final[command])), "failed, but something has its final name")


def measured(session, world, commands):
    """bench writes a row for every point once, and report reads them."""
    random = session.random
    world.bring(session, "recordio", "lmdb")
    options = table.pick(commands["bench"][1], random, ["order.txt"],
                         without={"--seconds", "--repeat", "--out", "--network", "--tool", "--plan", "--device",
                                  "--json", "--threads", "--dry-run", "--resume", "--compute-threads",
                                  "--beside-others"})
    line = ["bench", "lmdb", "recordio", "--seconds", "0.05", "--repeat", "1", "--threads", "0",
            "--beside-others", *table.words(options), "--out", "rows.jsonl"]
    if session.run(*line).code != 0:
        return
    rows = (session / "rows.jsonl").read_text()
    said = session.run(*line, "--resume", may_change=["rows.jsonl"])
    expect(said.code == 0 and (session / "rows.jsonl").read_text() == rows, f"--resume measures again: {said.errors}")
    chosen = table.pick(commands["report"][1], random, ["new.html"], without={"--compare"})
    said = session.run("report", "rows.jsonl", *table.words(chosen))
    once = list(chosen.values()).count("new.html") < 2  # two outputs of one name are refused
    expect(said.code in (0, 2) or not once, f"report: {said.errors}")


CASES = {walk: 8, measured: 1}
