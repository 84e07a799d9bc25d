#!/usr/bin/env python3
"""What samples/gpu_check.sh leaves, whenever it is killed.

    keep_test.py SOURCE_DIRECTORY"""

import contextlib
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import time
import unittest

from made_up import SOURCE, Case

import keep
import summary
from budget import Problem


class Kept(Case):
    def test_rows_of_an_earlier_call_are_kept(self):
        check = self.check()
        check.results.write_text("{}\n")
        with self.assertRaisesRegex(Problem, "--resume goes on with them"):
            self.check()
        self.assertEqual(self.check(resume=True).results.read_text(), "{}\n")

    def test_a_kill_at_any_time_loses_one_step(self):
        self.says(train=self.trained() | {"sleep": 30})
        script = ("import sys; sys.argv = ['', sys.argv[1], sys.argv[2]]\n"
                  "import pathlib, made_up, steps, check\n"
                  "root = pathlib.Path(sys.argv[2])\n"
                  "steps.run_all(check.Check(made_up.Place(root), made_up.options(root)))\n")
        for how in (signal.SIGKILL, signal.SIGTERM):
            process = subprocess.Popen(
                [sys.executable, "-B", "-c", script, SOURCE, self.root],
                env=os.environ | {"PYTHONPATH": str(pathlib.Path(__file__).parent)},
                stdout=subprocess.DEVNULL, start_new_session=True)
            kept = self.root / "keep/steps.jsonl"
            until = time.monotonic() + 60
            while time.monotonic() < until and not (
                    kept.exists() and '"recorded bf16 256"' in kept.read_text()):
                time.sleep(0.05)
            os.killpg(process.pid, how)
            process.wait()
            rows = {row["step"]: row for row in map(json.loads, kept.read_text().splitlines())}
            self.assertEqual(rows["images"]["status"], "ok")
            self.assertEqual((rows["recorded bf16 256"]["status"], rows["recorded bf16 256"]["reason"]),
                             ("cut", "interrupted"))
            with tarfile.open(self.root / "keep/logs.tar.gz") as logs:
                self.assertIn("logs/images.log", logs.getnames())
            (self.root / "out/results.jsonl").unlink(missing_ok=True)
        with kept.open("a") as file:
            file.write('{"step": "tests", "sta')  # as a kill leaves it
        self.says()
        self.root.joinpath("keep").rename(self.root / "home")
        code, lines = self.run_all(kept=self.root / "home", out=self.root / "other")
        self.assertEqual((code, lines[-1]), (0, "No step failed."))

    def test_at_most_seven_files_are_kept_and_logs_are_bounded(self):
        check = self.check()
        for file in keep.files(check).values():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("")
        (check.out / "logs/long.log").write_bytes(os.urandom(3 * keep.MAX_LOG))
        keep.all_files(check)
        kept = sorted(file.name for file in (self.root / "keep").iterdir())
        self.assertEqual(kept, sorted([*keep.files(check), keep.LOGS]))
        self.assertEqual(len(kept), 7)
        with tarfile.open(self.root / "keep/logs.tar.gz") as logs:
            self.assertEqual(logs.getmember("logs/long.log").size, keep.MAX_LOG)
        self.assertLess((self.root / "keep/logs.tar.gz").stat().st_size, 16 << 20)

    def test_where_nothing_can_be_kept_the_check_goes_on(self):
        (self.root / "keep").write_text("a file")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            code, lines = self.run_all()
        self.assertEqual(code, 0)
        self.assertIn("steps.jsonl is not kept", said.getvalue())

    def test_the_summary_fits_an_excerpt_and_ends_with_the_failures(self):
        rows = [{"step": f"step {i}", "status": "failed" if i == 3 else "ok", "reason": "why " * 300,
                 "facts": {"text": "x" * 900}, "warnings": []} for i in range(60)]
        check = self.check()
        for row in rows:
            check.write(row)
        text = summary.text(check)
        self.assertLess(len(text), 12000)
        self.assertTrue(text.splitlines()[-1].startswith("FAILED: step 3: why why"))
        self.assertIn("more lines are in the files", text)


unittest.main(argv=sys.argv[:1] + sys.argv[2:])
