"""The text summary, which names every failure first, and the page."""

import json

KINDS = ["compute", "demand", "delivered"]


def write(check):
    """Returns the exit code: 1 if a step failed."""
    steps = list(check.steps().values())
    rows = measured(check.results)
    text = "\n".join([*problems(steps), "", *facts(steps), "", *table(rows), *by_threads(rows)]) + "\n"
    (check.out / "summary.txt").write_text(text)
    print("\n" + text)
    if rows:
        page = check.out / "report.html"
        check.budget.end += 60  # drawing is no measurement
        check.step = "report"
        done = check.call([check.place.program, "report", check.results, "--html", page], 50)
        print(f"page: {page}" if done.code == 0 else f"no page: {done.last_words()}")
    return 1 if any(row["status"] == "failed" for row in steps) else 0


def measured(file):
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def problems(steps):
    """Failures, then what this machine lacks, then what is left for --resume."""

    def of(status):
        return [row for row in steps if row["status"] == status]

    lines = [f"FAILED: {row['step']}: {row['reason']}" for row in of("failed")]
    lines = lines or ["No step failed."]
    absent = {}
    for row in of("absent"):
        absent.setdefault(row["reason"], []).append(row["step"])
    lines += [f"not possible here: {', '.join(names)}: {reason}" for reason, names in absent.items()]
    left = [row["step"] for row in of("cut")]
    if left:
        lines.append(f"left for --resume: {', '.join(left)}")
    return lines + [f"passed: {', '.join(row['step'] for row in of('ok')) or 'nothing'}"]


def facts(steps):
    return [f"{row['step']}: " + ", ".join(f"{key} {value}" for key, value in row["facts"].items())
            for row in steps if row["status"] == "ok" and row["facts"]]


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
