#!/usr/bin/env python3
"""How often `feedrate diagnose` names the cause that was planted in a script, with TraceML's verdict beside it.

    samples/bench_causes.py --feedrate build/release/feedrate [--times 20] [--starts fork,spawn,forkserver]
        [--causes decoding,model] [--traceml PYTHON] [--at-once 1]

Run it by a Python that has torch and torchvision. The scripts are tests/python/diagnose/planted.py. A cause is named
where it is the first of the answer; of `nothing`, where the answer is that the model is the limit, and nothing else. A
"-" stands where a cause means nothing: a fork imports nothing anew. --traceml is a Python with traceml-ai, which says what
it says of a fork, once. Each line of the table is printed when it is known; what was named instead follows it.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

PLANTED = pathlib.Path(__file__).resolve().parent.parent / "tests" / "python" / "diagnose" / "planted.py"
CAUSES = ("decoding", "transform", "your-code", "too-few-workers", "more-workers-than-cores", "workers-restarted",
          "slow-spawn", "many-small-tensors", "float32", "pinning", "slow-storage", "slow-sample", "slow-collate", "model",
          "nothing")  # fmt: skip
PATIENCE = 300  # s


def named(feedrate, cause, start):
    """The causes, in their order, or what went wrong."""
    command = [feedrate, "diagnose", "--no-sweep", "--json", "--", sys.executable, PLANTED, cause, start]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode != 0:
        return ["exit code %d" % done.returncode]
    found = json.loads(done.stdout)
    return [one["cause"] for one in found["causes"]] or [found["problem"] or "none of the list"]


def is_right(cause, answer):
    return answer == ["model"] if cause in ("model", "nothing") else answer[0] == cause


def counted(options, cause, start):
    """'19 of 20', and what was named instead."""
    if (cause, start) == ("slow-spawn", "fork"):
        return "-", []
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        answers = list(pool.map(lambda _: named(options.feedrate, cause, start), range(options.times)))
    wrong = [start + ": " + ", ".join(answer) for answer in answers if not is_right(cause, answer)]
    return f"{options.times - len(wrong)} of {options.times}", wrong


def traceml_verdict(python, cause):
    """TraceML's, of the script that tells it where a step begins and ends."""
    with tempfile.TemporaryDirectory() as place:
        traceml = pathlib.Path(python).parent / "traceml"
        command = [traceml, "run", "--logs-dir", place, "--run-name", "run", PLANTED, "--args", cause]
        command += ["spawn" if cause == "slow-spawn" else "fork"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        summary = pathlib.Path(place) / "run" / "final_summary.json"
        if not summary.exists():
            return f"none (exit code {done.returncode})"
        found = json.loads(summary.read_text())
        verdict = found["primary_diagnosis"]["status"]
        other = found.get("step_time", {}).get("diagnosis", {}).get("status")
        return verdict if other in (None, verdict) else f"{verdict} ({other})"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--feedrate", required=True)
    options.add_argument("--times", type=int, default=20)
    options.add_argument("--starts", default="fork,spawn,forkserver")
    options.add_argument("--causes", default=",".join(CAUSES))
    options.add_argument("--traceml")
    options.add_argument("--at-once", type=int, default=1)
    options = options.parse_args()
    starts, missed = options.starts.split(","), False
    print("| planted | " + " | ".join(starts) + (" | TraceML |" if options.traceml else " |"))
    print("|---|" + "---|" * (len(starts) + bool(options.traceml)), flush=True)
    for cause in options.causes.split(","):
        cells, wrong = [], []
        for start in starts:
            cell, others = counted(options, cause, start)
            cells.append(cell)
            wrong += others
        if options.traceml:
            cells.append(traceml_verdict(options.traceml, cause))
        print(f"| `{cause}` | " + " | ".join(cells) + " |", flush=True)
        for one in wrong:
            print("  instead, with " + one, file=sys.stderr, flush=True)
        missed |= bool(wrong)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
