"""One call of the check: what its steps share, and the rows that they leave in --out."""

import datetime
import json
import os

from budget import Absent, Budget, Failed, Problem


class NoDevice(Exception):
    """Why no GPU can be used, in a sentence."""


class Check:
    def __init__(self, place, options):
        self.place, self.options = place, options
        self.budget = Budget(options.minutes)
        self.out = options.out.resolve()
        self.steps_file = self.out / "steps.jsonl"
        self.results = self.out / "results.jsonl"
        if self.results.exists() and not options.resume:
            raise Problem(f"{self.out} holds rows of an earlier call: --resume goes on with them, "
                          "--out names another place")
        if not options.resume:
            self.steps_file.unlink(missing_ok=True)
        (self.out / "logs").mkdir(parents=True, exist_ok=True)

    def steps(self):
        """The last row of each step so far, by name, in order."""
        rows = {}
        if self.steps_file.exists():
            for line in self.steps_file.read_text().splitlines():
                row = json.loads(line)
                rows[row["step"]] = row
        return rows

    def keep(self, row):
        row["time"] = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        with self.steps_file.open("a") as file:
            file.write(json.dumps(row) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def call(self, words, limit, kind="program", **environment):
        """Runs a command; its output goes to the log of the step."""
        # The chosen algorithms are kept, for this call and for one that resumes it.
        variables = self.place.environment(kind) | {"XDG_CACHE_HOME": str(self.out / "cache")}
        return self.budget.run(words, variables | environment, limit,
                               self.out / "logs" / f"{self.step.replace(' ', '-')}.log")

    def feedrate(self, *words, limit=120):
        """The object that the program prints with --json. A warning is a failure: fallbacks warn."""
        done = self.call([self.place.program, *words, "--json"], limit)
        if done.code != 0:
            raise Failed(done.last_words())
        warnings = [line for line in done.errors.splitlines() if "warning:" in line]
        if warnings:
            raise Failed(warnings[0].strip())
        return json.loads(done.output)

    def dataset(self, name):
        """The folder of a dataset that an earlier step made."""
        path = self.out / "data" / name
        if not path.exists():
            raise Absent(f"there is no {path.name}: the step 'images' has not made it")
        return path
