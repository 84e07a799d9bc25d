"""Tests an adapter (tools/lab/peers) with its framework itself: runs `feedrate bench --tool` and records the
adapter's answers on their way."""
import json
import math
import os
import pathlib
import sys
import tempfile

from program import NAME, equal, feedrate, stop

ADAPTERS = pathlib.Path(__file__).resolve().parents[3] / "tools" / "lab" / "peers"

# Takes the place of an adapter: runs it, and logs its answer.
SHIM = """import subprocess, sys
done = subprocess.run([sys.executable, "-B", {adapter!r}, *sys.argv[1:]], stdout=subprocess.PIPE)
sys.stdout.buffer.write(done.stdout)
with open({log!r}, "ab") as log:
    log.write(done.stdout)
sys.exit(done.returncode)
"""


def check(tool, formats, look=lambda datasets: None):
    """Trains on MNIST and CIFAR-10 in the first format; `look` gets the datasets in all formats."""
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        log = work / "log"
        (work / f"{tool}.py").write_text(SHIM.format(adapter=str(ADAPTERS / f"{tool}.py"),
                                                     log=str(log)))
        os.environ |= {"FEEDRATE_PEERS": str(work), "FEEDRATE_PYTHON": sys.executable}
        points = 0
        for source, networks in [("mnist", "lenet,lstm"),
                                 ("cifar10", "resnet56,googlenet:cifar")]:
            feedrate("synth", source, "--images", 600, "--out", work / source, "--seed", 5)
            datasets = [work / f"{source}-{name}" for name in formats]
            for name, out in zip(formats, datasets):
                feedrate("convert", source, work / source, "--to", name, "--split", "train",
                         "--out", out)
            look(datasets)
            recipes = ["none", "cifar-train"] if source == "cifar10" else ["none"]
            rows = work / f"{source}.jsonl"
            feedrate("bench", datasets[0], "--tool", tool, "--network", networks, "--recipe",
                     ",".join(recipes), "--threads", 1, "--batch", 32, "--repeat", 1, "--seconds",
                     0.2, "--beside-others", "--out", rows)
            found = [json.loads(line) for line in rows.read_text().splitlines()]
            trained = len(networks.split(","))
            expected = len(recipes) * (1 + 2 * trained)
            equal(len(found), expected, f"rows of {source}")
            equal({row["tool"] for row in found}, {tool}, "tools")
            points += len(found)
        answers = [json.loads(line) for line in log.read_text().splitlines()]
        check_learning(work, tool, formats[0], log)
    version = next(answer["tool_version"] for answer in answers if "tool_version" in answer)
    print(f"{NAME}: ok, {tool} {version} measured {points} points")


def check_learning(work, tool, container, log):
    """Trained on a few batches repeatedly, the loss must fall below that of guessing."""
    log.write_text("")
    feedrate("bench", work / f"mnist-{container}", "--tool", tool,
             "--network", "lenet", "--threads", 1, "--batch", 16, "--compute-threads", 1,
             "--repeat", 1, "--seconds", 4, "--beside-others", "--out", work / "learned.jsonl")
    losses = [answer["loss"] for line in log.read_text().splitlines()
              if "loss" in (answer := json.loads(line))]
    if not losses or min(losses) > 0.9 * math.log(10):
        stop(f"losses of lenet in {tool}: {losses}")
