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

from made_up import FEW, SOURCE, Case

import journal
import keep
import steps
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

    def test_logs_that_do_not_compress_fit_what_may_come_home(self):
        check = self.check()
        for number in range(50):
            (check.out / f"logs/{number}.log").write_bytes(os.urandom(keep.MAX_LOG))
        keep.all_files(check)
        packed = self.root / "keep/logs.tar.gz"
        self.assertTrue(14_000_000 < packed.stat().st_size < 16 << 20)
        with tarfile.open(packed) as logs:
            self.assertGreater(len(logs.getnames()), 30)

    def test_a_full_disk_loses_files_but_no_result(self):
        check = self.check(only=FEW)
        (check.out / "steps.jsonl").symlink_to("/dev/full")
        for name in FEW[:3]:
            (check.out / f"logs/{name.replace(' ', '-')}.log").symlink_to("/dev/full")
        with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
            steps.run_all(check)
            self.assertEqual(summary.write(check), 0)
        self.assertIn("gpu_check: steps.jsonl cannot be written: ", said.getvalue())
        rows = map(json.loads, (self.root / "keep/steps.jsonl").read_text().splitlines())
        self.assertEqual({row["step"]: row["status"] for row in rows}, dict.fromkeys(FEW, "ok"))

    def test_a_row_after_one_that_was_torn_is_whole(self):
        file = self.root / "torn.jsonl"
        file.write_bytes(b'{"a": 1}\n["no object"]\n{"b": "\xc3')
        journal.append(file, '{"c": 3}\n')
        self.assertEqual(journal.read(file), [{"a": 1}, {"c": 3}])

    def test_another_machines_rows_overwrite_none_and_its_logs_come_along(self):
        self.run_all()
        self.root.joinpath("keep").rename(self.root / "home")
        check = self.check(kept=self.root / "home", out=self.root / "other")
        self.assertIn("engines", (check.out / "logs/recorded-bf16-256.log").read_text())
        check.results.write_text("{}\n")
        with self.assertRaisesRegex(Problem, "holds rows of an earlier call"):
            self.check(kept=self.root / "home", out=self.root / "other")
        (self.root / "home/logs.tar.gz").write_bytes(b"\x1f\x8b")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.check(kept=self.root / "home", out=self.root / "third")
        self.assertIn("are lost: ", said.getvalue())

    def start(self, *words):
        """The command itself, in its own session, until its first training runs."""
        self.says(train=self.trained() | {"sleep": 60})
        (self.root / "libfeedrate_cuda.so").touch()
        process = subprocess.Popen(
            [SOURCE / "samples/gpu_check.sh", "--only", ",".join(FEW), "--out", self.root / "out",
             "--keep", self.root / "keep", *words], env=os.environ | {"FEEDRATE_BUILD": str(self.root)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        until = time.monotonic() + 60
        while time.monotonic() < until and not any(
                line.startswith("train") for line in self.place.asked()):
            time.sleep(0.02)
        return process

    def programs(self):
        """Processes of the made-up device."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if str(self.root / "feedrate").encode() in process.read_bytes().split(b"\0"):
                    found.append(process)
        return found

    def test_nothing_goes_on_after_a_check_that_was_killed(self):
        process = self.start()
        self.assertTrue(self.programs())
        process.kill()
        process.communicate()
        until = time.monotonic() + 10
        while time.monotonic() < until and self.programs():
            time.sleep(0.02)
        self.assertEqual(self.programs(), [])

    def test_signals_end_it_with_a_summary_however_many_come(self):
        for how in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            process = self.start("--resume")
            for _ in range(3):
                process.send_signal(how)
                time.sleep(0.05)
            output, errors = process.communicate(timeout=30)
            self.assertEqual((process.returncode, errors), (0, "gpu_check: interrupted\n"), how)
            self.assertIn("left for --resume: recorded bf16 256: interrupted", output)
            self.assertEqual((self.root / "keep/steps.jsonl").read_text(),
                             (self.root / "out/steps.jsonl").read_text())
            (self.root / "asked").unlink()

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

    def test_the_end_of_a_summary_has_every_failure(self):
        check = self.check()
        for i in range(60):
            check.write({"step": f"step {i}", "status": "failed", "reason": "why " * 300, "facts": {},
                         "warnings": ["feedrate train: warning: " + "so " * 300] * 20})
        end = summary.text(check)[-12000:]
        self.assertTrue(all(f"FAILED: step {i}: why" in end for i in range(60)))


unittest.main(argv=sys.argv[:1] + sys.argv[2:])
