"""One call of the check: what its steps share, and the rows that they leave in --out."""

import datetime
import json
import os

import data
import keep
from budget import Budget, Cut, Failed, Problem


class NoDevice(Exception):
    """Why no GPU can be used, in a sentence."""


class Check:
    def __init__(self, place, options, budget=None):
        self.place, self.options = place, options
        self.budget = budget or Budget(options.minutes)
        self.out = options.out.resolve()
        self.cache = (options.cache or self.out / "cache").resolve()
        self.steps_file = self.out / "steps.jsonl"
        self.results = self.out / "results.jsonl"
        self.tests_file = self.out / "tests.json"
        self.step, self.warnings = "", []
        self.fused = {}  # what fusions.py compares with, by the batch
        if options.resume or options.kept:
            if options.kept:
                keep.take_back(self, options.kept)
        elif self.results.exists():
            raise Problem(f"{self.out} holds rows of an earlier call: --resume goes on with them, "
                          "--out names another place")
        else:
            for file in (self.steps_file, self.tests_file):
                file.unlink(missing_ok=True)
        (self.out / "logs").mkdir(parents=True, exist_ok=True)

    def steps(self):
        """The last row of each step so far, by name, in order."""
        rows = {}
        if self.steps_file.exists():
            for line in self.steps_file.read_text().splitlines():
                try:
                    row = json.loads(line)
                except json.JSONDecodeError:  # the line that a kill has cut
                    continue
                rows[row["step"]] = row
        return rows

    def begin(self, name):
        self.step, self.warnings = name, []
        self.write({"step": name, "status": "cut", "reason": "interrupted", "facts": {}})
        keep.only(self, self.steps_file)

    def write(self, row):
        row["time"] = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        with self.steps_file.open("a") as file:
            file.write(json.dumps(row) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def log(self, name=None):
        return self.out / "logs" / f"{(name or self.step).replace(' ', '-').replace('/', '-')}.log"

    def attempt(self, words, limit, kind="program", log=None, **environment):
        """Runs a command; its output goes to the log of the step, or to another."""
        # The chosen algorithms are kept, for this call and for one that resumes it.
        variables = self.place.environment(kind) | {"XDG_CACHE_HOME": str(self.cache)}
        return self.budget.attempt(words, variables | environment, limit, self.log(log))

    def call(self, words, limit, kind="program", **environment):
        """The same; throws Cut where it took too long."""
        done = self.attempt(words, limit, kind, **environment)
        if done.late:
            raise Cut(done.late)
        return done

    def run(self, *words, limit=120, **environment):
        """What the program does. Throws Failed where it fails. What it warns of is noted."""
        done = self.call([self.place.program, *words], limit, **environment)
        if done.code != 0:
            raise Failed(done.last_words())
        self.warnings += [line.strip() for line in done.errors.splitlines() if "warning:" in line]
        return done

    def feedrate(self, *words, limit=120, **environment):
        """The object that the program prints with --json, which is kept beside the log."""
        output = self.run(*words, "--json", limit=limit, **environment).output
        self.log().with_suffix(".json").write_text(output)
        return json.loads(output)

    def dataset(self, name):
        """The folder of a made dataset, which is made when it is first asked for."""
        path = self.out / "data" / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            data.make(self, name)
        return path
