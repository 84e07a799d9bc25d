"""Every test of CUDA, in several processes at once, and what those that fail have in common.

An illegal access poisons its process: each later test in it fails, too. So a suite has a process of
its own, and what failed is run again alone, where each launch waits for its kernel: only then does an
error come from the call that it names."""

import json
import re

import fusions
from budget import Absent, Cut, Failed

AT_ONCE = 5
MOST = 16  # tests in a process
PROCESS_SECONDS = 60
STEP_SECONDS = 100
ALONE_SECONDS = 40
CULPRIT_SECONDS = 90
MAX_CULPRITS = 12


def tests(check):
    """A test that is skipped has proven nothing, so it has failed."""
    names = listed(check)
    if not names:
        raise Failed("there is no test Cuda/* in test_trainer")
    before = {row["test"]: row for row in rows(check)}
    found = {name: before.get(name) for name in names}
    end = check.budget.now() + STEP_SECONDS
    left = [name for name in names if not passed(found[name])]
    round_of = 0
    while left:
        jobs = [lambda number=number, part=part: piece(check, f"{round_of}-{number}", part, end)
                for number, part in enumerate(pieces(left))]
        for result in check.budget.together(jobs, AT_ONCE):
            found |= result
        write(check, found)
        # A process that crashes or hangs leaves tests that were not begun.
        again = [name for name in left if found[name] and found[name]["status"] == "not run"]
        if len(again) == len(left) or check.budget.now() >= end:
            break
        left, round_of = again, round_of + 1
    return judge([row for row in found.values() if row])


def rows(check):
    return json.loads(check.tests_file.read_text()) if check.tests_file.exists() else []


def passed(row):
    return row is not None and row["status"] == "passed"


def write(check, found):
    partial = check.tests_file.with_suffix(".partial")
    partial.write_text(json.dumps([row for row in found.values() if row], indent=1))
    partial.replace(check.tests_file)


def listed(check):
    done = check.call([check.place.tests, "--gtest_filter=Cuda/*", "--gtest_list_tests"], 60, "tests")
    names, suite = [], ""
    for line in done.output.splitlines():
        word = line.split("#")[0].rstrip()
        if word.endswith(".") and not line.startswith(" "):
            suite = word
        elif line.startswith("  ") and suite.startswith("Cuda/"):
            names.append(suite + word.strip())
    return names


def pieces(names):
    """The tests of each suite, a few at a time; the largest first, which may take longest."""
    suites = {}
    for name in names:
        suites.setdefault(name.split(".")[0], []).append(name)
    cut = [suite[i:i + MOST] for suite in suites.values() for i in range(0, len(suite), MOST)]
    return sorted(cut, key=len, reverse=True)


def piece(check, number, names, end):
    """By name, what became of tests that share a process."""
    row = {name: {"test": name, "status": "not run", "reason": None} for name in names}
    seconds = min(PROCESS_SECONDS, end - check.budget.now())
    if seconds <= 0:
        return row
    report = check.out / "logs" / f"tests-{number}.json"
    report.unlink(missing_ok=True)
    try:
        done = check.attempt([check.place.tests, f"--gtest_filter={':'.join(names)}",
                              f"--gtest_output=json:{report}"], seconds, "tests", f"tests {number}",
                             FEEDRATE_EXPECT_GPU="1")
    except Cut:
        return row
    for name, found in (told(report) or seen(done, names)).items():
        row[name] |= found
    if done.code != 0 and not done.late and all(passed(one) for one in row.values()):
        last = row[names[-1]]
        last |= {"status": "failed", "reason": f"its process ended with code {done.code} at its end"}
    return row


def told(report):
    """From the report, which only a process writes that comes to its end."""
    try:
        said = json.loads(report.read_text(errors="replace"))
    except (OSError, ValueError):
        return None
    found = {}
    for suite in said["testsuites"]:
        for test in suite["testsuite"]:
            row = {"status": "passed", "reason": None, "seconds": test.get("time")}
            if test.get("failures"):
                row |= {"status": "failed", "reason": short(test["failures"][0]["failure"])}
            elif test["result"] != "COMPLETED":
                row |= {"status": "failed", "reason": "skipped"}
            if "closest" in test:
                row["closest"] = test["closest"]
            found[f"{suite['name']}.{test['name']}"] = row
    return found


def seen(done, names):
    """From the output of a process that did not come to its end."""
    found, runs = {}, None
    for mark, name in re.findall(r"^\[ *(RUN|OK|FAILED|SKIPPED) *\] (\S+)", done.output, re.M):
        name = name.rstrip(",")
        if name not in names:
            continue
        if mark == "RUN":
            runs = name
            continue
        runs = None
        found[name] = {"status": "passed" if mark == "OK" else "failed",
                       "reason": None if mark == "OK" else mark.lower()}
    if runs and done.late:
        found[runs] = {"status": "hung", "reason": f"still ran when its process {done.late}"}
    elif runs or not found:
        how = f"signal {-done.code}" if (done.code or 0) < 0 else f"exit code {done.code}"
        said = f": {done.last_words()}" if done.errors.strip() else ""
        found[runs or names[0]] = {"status": "crashed", "reason": f"crashed ({how}){said}"}
    return found


def short(failure):
    lines = [line.strip() for line in failure.splitlines() if line.strip()]
    return " ".join(lines[1:] or lines)[:300]


def judge(found):
    def of(*kinds):
        return [row for row in found if row["status"] in kinds]

    facts = {"tests": len(found), "passed": len(of("passed"))}
    ratios = {float(row["closest"].split()[0]): row for row in found if row.get("closest")}
    if ratios:
        closest = ratios[max(ratios)]
        facts["closest"] = f"{closest['closest']} in {closest['test']}"
    bad = of("failed", "crashed")
    if bad:
        names = "; ".join(f"{row['test']}: {row['reason']}" for row in bad[:6])
        more = f"; and {len(bad) - 6} more in tests.json" if len(bad) > 6 else ""
        raise Failed(f"{len(bad)} of {len(found)} tests: {names}{more}", facts)
    left = of("hung", "not run")
    if left:
        hung = "".join(f"; {row['test']} {row['reason']}" for row in of("hung")[:4])
        raise Cut(f"{len(left)} of {len(found)} tests did not come to their end{hung}", facts)
    return facts


def culprits(check):
    """Each failed test alone; one that fails again, with one fusion off at a time."""
    found = {row["test"]: row for row in rows(check)}
    bad = [name for name, row in found.items() if row["status"] in ("failed", "crashed", "hung")]
    if not found:
        raise Absent("no test has run")
    end = check.budget.now() + CULPRIT_SECONDS

    def alone(name, unfused=None):
        environment = {"CUDA_LAUNCH_BLOCKING": "1", "FEEDRATE_EXPECT_GPU": "1"}
        if unfused:
            environment["FEEDRATE_UNFUSED"] = unfused
        seconds = min(ALONE_SECONDS, end - check.budget.now())
        if seconds <= 0:
            return None
        report = check.out / "logs" / f"alone-{name}-{unfused}.json".replace("/", "-")
        report.unlink(missing_ok=True)
        try:
            done = check.attempt([check.place.tests, f"--gtest_filter={name}",
                                  f"--gtest_output=json:{report}"], seconds, "tests",
                                 f"alone {name} {unfused or ''}", **environment)
        except Cut:
            return None
        row = (told(report) or seen(done, [name])).get(name)
        return row if row is None or done.late is None else row | {"status": "hung"}

    ways = [*fusions.NAMES, "all"]
    facts = {}
    bad = bad[:MAX_CULPRITS]
    again = check.budget.together([lambda name=name: alone(name) for name in bad], AT_ONCE)
    for name, row in zip(bad, again):
        found[name]["alone"] = row["reason"] or row["status"] if row else "not run"
        if row is None or passed(row):
            facts[name] = "passes alone" if row else "no time was left to run it alone"
            continue
        tried = check.budget.together(
            [lambda way=way, name=name: alone(name, way) for way in ways], AT_ONCE)
        helps = [way for way, one in zip(ways, tried) if passed(one)]
        unknown = [way for way, one in zip(ways, tried) if one is None]
        found[name]["passes_without"] = helps
        facts[name] = (f"passes without {', '.join(helps)}" if helps else
                       f"fails alone, whatever is turned off: {row['reason'] or row['status']}")
        if unknown:
            facts[name] += f" (no time for {', '.join(unknown)})"
    write(check, found)
    stuck = [name for name in bad if found[name]["status"] == "hung" and "passes_without" in found[name]]
    if stuck:  # the step 'tests' was only cut
        raise Failed("; ".join(f"{name}: {facts[name]}" for name in stuck), facts)
    return facts
