#!/usr/bin/env python3
"""What becomes of tests that fail, crash, hang or poison their process.

    suites_test.py SOURCE_DIRECTORY"""

import json
import re
import sys
import unittest

from made_up import SOURCE, Case, tests

import fusions
import suites


class Suites(Case):
    def test_a_test_that_is_skipped_or_wrong_or_absent_is_a_failure(self):
        self.assertEqual(self.last_line(tests=tests(A__good="passes", A__idle="skips")),
                         "FAILED: tests: 1 of 2 tests: Cuda/A.idle/real: skipped")
        self.forget()
        self.assertEqual(self.last_line(tests=tests(A__good="passes", A__bad="fails")),
                         "FAILED: tests: 1 of 2 tests: Cuda/A.bad/real: found 3, allowed 2")
        self.forget()
        self.assertEqual(self.last_line(tests={}),
                         "FAILED: tests: there is no test Cuda/* in test_trainer")

    def test_a_suite_that_crashes_names_the_test_and_the_rest_still_runs(self):
        line = self.last_line(tests=tests(A__one="passes", A__two="crashes", A__three="passes",
                                          B__four="passes"))
        self.assertEqual(line, "FAILED: tests: 1 of 4 tests: Cuda/A.two/real: crashed (signal 6)")
        found = {row["test"]: row["status"] for row in
                 json.loads((self.root / "out/tests.json").read_text())}
        self.assertEqual(found, {"Cuda/A.one/real": "passed", "Cuda/A.two/real": "crashed",
                                 "Cuda/A.three/real": "passed", "Cuda/B.four/real": "passed"})

    def test_a_test_that_hangs_is_cut_and_named(self):
        suites.PROCESS_SECONDS = suites.ALONE_SECONDS = 2
        self.says(tests=tests(A__one="passes", A__two="hangs", A__three="passes"))
        code, lines = self.run_all(only=["tests"])
        self.assertEqual(code, 0)
        row = self.row("tests")
        self.assertEqual((row["status"], row["facts"]["passed"]), ("cut", 2))
        self.assertIn("Cuda/A.two/real still ran when its process took longer than 2 s",
                      row["reason"])
        self.run_all(only=["culprits"], resume=True)
        self.assertEqual(self.row("culprits")["status"], "failed")
        self.assertIn("Cuda/A.two/real", self.row("culprits")["reason"])

    def test_the_culprit_of_a_failure_has_a_name(self):
        self.says(tests=tests(A__branch="fails unless weight-branch", A__ill="fails",
                              B__bad="poisons", B__victim="fails in company", B__good="passes"))
        self.run_all()
        facts = self.row("culprits")["facts"]
        self.assertEqual(facts["Cuda/A.branch/real"], "passes without weight-branch")
        self.assertEqual(facts["Cuda/A.ill/real"],
                         "fails alone, whatever is turned off: found 3, allowed 2")
        self.assertEqual(facts["Cuda/B.victim/real"], "passes alone")
        self.assertEqual(facts["Cuda/B.good/real"], "passes alone", "the context was poisoned")
        # What failed is run again; what passed is not.
        self.says(tests=tests(A__branch="passes", A__ill="fails", A__fine="passes", B__bad="passes",
                              B__victim="passes", B__good="passes"))
        before = len(self.place.asked())
        self.run_all(resume=True)
        asked = "\n".join(self.place.asked()[before:])
        self.assertEqual(self.row("tests")["reason"],
                         "1 of 6 tests: Cuda/A.ill/real: found 3, allowed 2")
        self.assertIn("Cuda/A.ill/real", asked)
        self.assertEqual(list(self.row("culprits")["facts"]), ["Cuda/A.ill/real"])
        self.run_all(resume=True)
        before = len(self.place.asked())
        self.run_all(resume=True)
        asked = [line for line in self.place.asked()[before:] if line.startswith("--gtest_filter=Cuda/A.")]
        self.assertFalse([line for line in asked if "A.fine" in line], asked)

    def test_tests_for_which_no_time_is_left_are_cut(self):
        suites.STEP_SECONDS = 3
        self.says(tests=tests(A__one="hangs", A__two="passes", B__three="passes"))
        code, lines = self.run_all(only=["tests"])
        self.assertEqual((code, self.row("tests")["status"]), (0, "cut"))

    def test_a_report_may_hold_any_bytes(self):
        report = self.root / "report.json"
        report.write_bytes(b'{"testsuites": [{"name": "A", "testsuite": [{"name": "t", "result": "COMPLETED", '
                           b'"failures": [{"failure": "file.cpp:3\\nfound \xff"}]}]}]}')
        self.assertEqual(suites.told(report)["A.t"]["reason"], "found \ufffd")
        report.write_bytes(b"\xff")
        self.assertIsNone(suites.told(report))

    def test_no_suite_of_a_real_device_skips_what_a_device_cannot_do(self):
        """gpu_check counts skipped tests as failures, so a test for the emulated device alone belongs
        to a suite that has no other instance."""
        for file in (SOURCE / "tests/trainer/backends/cuda").glob("*.cpp"):
            self.assertIsNone(re.search(r"Device::real\b[^;]*GTEST_SKIP", file.read_text()), file.name)

    def test_the_fusions_are_those_that_the_backend_knows(self):
        code = (SOURCE / "trainer/graph/fusion.cpp").read_text()
        table = code[code.index("kinds[] = {"):code.index("struct Reader")]
        self.assertEqual(re.findall(r'"([a-z-]+)"', table), fusions.NAMES)


unittest.main(argv=sys.argv[:1] + sys.argv[2:])
