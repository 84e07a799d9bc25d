"""One combination: commands in a directory of its own, watched for what no command may do."""

import fnmatch
import hashlib
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import time

LIMIT = 60  # seconds; then the command is asked to stop
PATIENCE = 60  # seconds, for stopping


class Wrong(Exception):
    """The program broke a promise."""


def expect(condition, problem):
    if not condition:
        raise Wrong(problem)


class Said:
    """How a command ended, and what it said."""

    def __init__(self, code, out, errors, seconds):
        self.code, self.out, self.errors, self.seconds = code, out, errors, seconds

    def json(self):
        return json.loads(self.out)


class Session:
    """Runs commands in its directory and keeps their lines."""

    def __init__(self, directory, program, random):
        self.directory, self.program, self.random = pathlib.Path(directory), program, random
        self.lines = []
        self.commands = self.refused = self.killed = 0

    def __truediv__(self, name):
        return self.directory / name

    def contents(self):
        """{path: hash}, of directories a word."""
        found = {}
        for root, directories, files in os.walk(self.directory):
            for name in directories:
                found[os.path.relpath(os.path.join(root, name), self.directory)] = "directory"
            for name in files:
                path = os.path.join(root, name)
                data = pathlib.Path(path).read_bytes() if os.path.isfile(path) else b"no file"
                found[os.path.relpath(path, self.directory)] = hashlib.sha1(data).digest()
        return found

    def shell(self, line):
        """Changes something between two commands."""
        self.lines.append(line)
        subprocess.run(line, shell=True, check=True, cwd=self.directory)

    def run(self, *words, stop=None, limit=LIMIT, may_change=()):
        """Runs a command; `stop` is (signal, seconds), and after `limit` seconds it gets SIGTERM. Only paths
        like those of `may_change`, and what is under them, may change; any command may make new files."""
        words = [str(word) for word in words]
        line = " ".join(map(shlex.quote, ["feedrate", *words]))
        if stop:
            line = f"timeout -s {signal.Signals(stop[0]).name} {stop[1]:.3f} {line}"
        self.lines.append(line)
        self.commands += 1
        before = self.contents()
        said, sent = self.ended(words, *(stop or (signal.SIGTERM, limit)))
        self.lines[-1] += f"  # {said.code}"
        self.check_end(words, said, sent)
        self.check_files(said, sent, before, may_change)
        self.refused += said.code in (1, 2)
        return said

    def ended(self, words, how, seconds):
        """What a command says that gets the signal `how` after that time, and that signal if it was sent."""
        begin = time.monotonic()
        process = subprocess.Popen(
            [self.program, *words], cwd=self.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        sent = None
        try:
            out, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            sent = how
            self.killed += 1
            process.send_signal(sent)
            try:
                out, errors = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                raise Wrong(f"did not end within {PATIENCE} s of {signal.Signals(sent).name}") from None
        took = time.monotonic() - begin
        return Said(process.returncode, out, errors.decode(errors="replace"), took), sent

    def check_end(self, words, said, sent):
        code, errors = said.code, said.errors
        expect(code in (0, 1, 2) or (sent is not None and code == -sent), f"ended with {code}\n{errors}")
        expect(code <= 0 or errors.strip() or said.out, f"ended with {code} without a word")
        expect(not re.search(r"std::|terminate called|MDB_|filesystem error|Sanitizer|libgcc", errors),
               f"an error in a library's words:\n{errors}")
        if "--json" in words and code == 0 and not errors.startswith("Usage"):
            try:
                lines = said.out.splitlines() if words[0] == "bench" and "--dry-run" not in words else [said.out]
                for line in lines:
                    json.loads(line)
            except ValueError:
                raise Wrong(f"--json printed no object:\n{said.out[:500]}") from None

    def check_files(self, said, sent, before, may_change):
        after = self.contents()
        changed = [path for path in before if after.get(path) != before[path]]
        made = [path for path in after if path not in before]
        strange = [path for path in changed
                   if not any(fnmatch.fnmatch(path, like) or fnmatch.fnmatch(path, f"{like}/*")
                              for like in may_change)]
        expect(not strange, f"changed {strange}")
        expect(said.code != 2 or not made + changed, f"misused, but left {made + changed}")
        expect(sent is not None or not [path for path in made if path.endswith(".new")], f"left {made}")
