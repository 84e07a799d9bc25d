"""The text summary, which tells problems last, where a short excerpt of the output still shows them, and
the page."""

import journal

KINDS = ["compute", "demand", "delivered"]
MAX_FACTS = 5000  # characters; steps.jsonl has all
MAX_TABLE = 3500
MAX_REASON = 400
MAX_WARNINGS = 1500
MAX_FAILED = 4000


def write(check):
    """Returns the exit code: 1 if a step failed."""
    steps = list(check.steps().values())
    print("\n" + text(check))
    return 1 if any(row["status"] == "failed" for row in steps) else 0


def text(check):
    steps = list(check.steps().values())
    rows = measured(check.results)
    return "\n".join([*shortened(facts(steps), MAX_FACTS), "",
                      *shortened([*table(rows), *by_threads(rows)], MAX_TABLE), "",
                      *problems(steps)]) + "\n"


def page(check):
    if not measured(check.results):
        return
    page = check.out / "report.html"
    check.budget.end += 30  # drawing is no measurement
    check.step = "report"
    try:
        done = check.call([check.place.program, "report", check.results, "--html", page], 25)
        print(f"page: {page}" if done.code == 0 else f"no page: {done.last_words()}")
    except Exception as problem:  # the numbers are there without it
        print(f"no page: {problem}")


def shortened(lines, characters):
    kept, used = [], 0
    for line in lines:
        used += len(line) + 1
        if used > characters:
            return [*kept, f"({len(lines) - len(kept)} more lines are in the files)"]
        kept.append(line)
    return kept


def measured(file):
    """Rates of results."""
    return [row for row in journal.read(file) if row.get("images_per_second")]


def problems(steps):
    """What passed, what this machine lacks, what is left, then warnings and failures."""

    def of(status):
        return [row for row in steps if row["status"] == status]

    lines = [f"passed: {', '.join(row['step'] for row in of('ok')) or 'nothing'}"]
    absent = {}
    for row in of("absent"):
        absent.setdefault(row["reason"][:MAX_REASON], []).append(row["step"])
    lines += [f"not possible here: {', '.join(names)}: {reason}" for reason, names in absent.items()]
    left = {}
    for row in of("cut"):
        left.setdefault(row["reason"][:MAX_REASON], []).append(row["step"])
    lines += [f"left for --resume: {', '.join(names)}: {reason}" for reason, names in left.items()]
    lines += shortened([f"warning: {row['step']}: {warning[:MAX_REASON]}" for row in steps
                        for warning in row.get("warnings") or []], MAX_WARNINGS)
    failed = of("failed")
    length = max(60, min(MAX_REASON, MAX_FAILED // max(1, len(failed))))  # of the reason of each
    failed = [f"FAILED: {row['step']}: {row['reason'][:length]}" for row in failed]
    return lines + (failed or ["No step failed."])


def facts(steps):
    return [f"{row['step']}: " + ", ".join(f"{key} {value}" for key, value in row["facts"].items())
            for row in steps if row["facts"] and row["step"] != "versions"]


def by_threads(rows):
    """What is delivered by each number of loader threads, from each encoding."""
    lines = {}
    for row in rows:
        if row["kind"] == "delivered" and row["tool"] == "feedrate" and row["network"] == "resnet50":
            device = ", decoded on the device" if row.get("decode") == "device" else ""
            name = f"{row['precision']} {row['batch']} from {row['codec']}{device}"
            lines.setdefault(name, {})[row["threads"]] = row["images_per_second"]
    lines = {name: rates for name, rates in lines.items() if len(rates) > 1}
    if not lines:
        return []
    return ["", "resnet50, delivered images/s by loader threads"] + [
        f"{name}: " + ", ".join(f"{threads} → {rate:,.0f}" for threads, rate in sorted(rates.items()))
        for name, rates in sorted(lines.items())]


def table(rows):
    """Images/s of each tool, and the factor over the best of the others."""
    if not rows:
        return ["No rate was measured."]
    points = {}
    for row in rows:
        if row.get("network") and row["kind"] in KINDS:
            key = row["network"], row["precision"], row["batch"], row["kind"]
            tools = points.setdefault(key, {})
            tools[row["tool"]] = max(row["images_per_second"], tools.get(row["tool"], 0))
    tools = sorted({tool for point in points.values() for tool in point})
    columns = ["network", "precision", "batch", "kind", *tools, "× best other"]
    lines = [columns]
    for key, point in sorted(points.items(), key=lambda item: tuple(map(str, item[0]))):
        others = [rate for tool, rate in point.items() if tool != "feedrate"]
        factor = f"{point['feedrate'] / max(others):.2f}" if others and "feedrate" in point else "–"
        lines.append([*map(str, key),
                      *(f"{point[tool]:,.0f}" if tool in point else "–" for tool in tools), factor])
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    return ["images/s"] + ["  ".join(cell.ljust(width) if i < 4 else cell.rjust(width)
                                     for i, (cell, width) in enumerate(zip(line, widths)))
                           for line in lines]
