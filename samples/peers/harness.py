"""What the benchmarks beside other tools share: archives, fresh processes, answers, rows of results.

A benchmark is a script here that runs Feedrate and a peer in turns. A peer is a script too, run by a Python that
has the tool; its last line is its answer as JSON.
"""
import json
import mmap
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def run(*command, **how):
    """What a command prints; ends the benchmark where it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, **how)
    if done.returncode != 0:
        sys.exit(f"{pathlib.Path(sys.argv[0]).stem}: {' '.join(words)} failed")
    return done.stdout


def answer(*command):
    """What a command answers in JSON: all that it prints, or the last line where other lines come before."""
    printed = run(*command)
    return json.loads(printed if printed.startswith("{") else printed.splitlines()[-1])


def peer_answer(python, script, *words):
    """The answer of a peer's script, None where that tool is missing or has no such reader."""
    command = [python, HERE / script, *words]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def archives(feedrate, source, images, out):
    """The archives under $FEEDRATE_DATA, or made ones with that many images."""
    real = pathlib.Path(os.environ.get("FEEDRATE_DATA", out / "none")) / source
    return real if real.is_dir() else made_archives(feedrate, source, images, out)


def made_archives(feedrate, source, images, out):
    made = out / f"{source}-{images}-archives"
    if not made.exists():
        run(feedrate, "synth", source, "--images", images, "--out", made)
    return made


def keep(rows, row):
    """Appends a row to the file of results, where it stays if a later case fails."""
    rows.write(json.dumps(row) + "\n")
    rows.flush()


def tree_bytes(path):
    return sum(f.stat().st_size for f in path.rglob("*") if f.is_file())


def hold_memory(size):
    """Makes sure that the system holds this much free memory, and a little more, before timing.

    The host of a virtual machine reclaims idle memory and returns it page by page, at a fifth of the
    speed of writing to it: the first process timed would pay for that.
    """
    populate_write = 23  # MADV_POPULATE_WRITE, of Linux 5.14 and on
    held = mmap.mmap(-1, size + (256 << 20), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    try:
        held.madvise(populate_write)
    except OSError:
        for page in range(0, len(held), mmap.PAGESIZE):
            held[page] = 1
    held.close()
