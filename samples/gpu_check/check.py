"""One call of the check: what its steps share, and the rows that they leave in --out."""

import contextlib
import datetime
import json

import data
import keep
import journal
from budget import MAX_WORDS, Budget, Cut, Failed, Problem

MAX_WARNINGS = 20  # of a step; its log has all


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
        if not options.resume:
            if self.results.exists():
                raise Problem(f"{self.out} holds rows of an earlier call: --resume goes on with them, "
                              "--out names another place")
            for file in (self.steps_file, self.tests_file):
                file.unlink(missing_ok=True)
        if options.kept:
            keep.take_back(self, options.kept)
        (self.out / "logs").mkdir(parents=True, exist_ok=True)
        self.rows = journal.read(self.steps_file)  # the disk may be full: what is kept is kept from here

    def steps(self):
        """The last row of each step so far, by name, in order. A failure stands until the step has been
        repeated to its end."""
        last = {}
        for row in self.rows:
            if row["status"] != "cut" or last.get(row["step"], row)["status"] != "failed":
                last[row["step"]] = row
        return last

    def begin(self, name):
        self.step, self.warnings = name, []
        self.write({"step": name, "status": "cut", "reason": "interrupted", "facts": {}})
        keep.steps(self)

    def write(self, row):
        row["time"] = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        self.rows.append(row)
        journal.append(self.steps_file, json.dumps(row) + "\n")

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
        said = [line.strip()[:MAX_WORDS] for line in done.errors.splitlines() if "warning:" in line]
        self.warnings += said[:MAX_WARNINGS - len(self.warnings)]
        return done

    def feedrate(self, *words, limit=120, **environment):
        """The object that the program prints with --json, which is kept beside the log."""
        output = self.run(*words, "--json", limit=limit, **environment).output
        with contextlib.suppress(OSError):  # a full disk; the log's own line says so
            self.log().with_suffix(".json").write_text(output)
        return json.loads(output)

    def dataset(self, name):
        """The folder of a made dataset, which is made when it is first asked for."""
        path = self.out / "data" / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            data.make(self, name)
        return path
