#!/usr/bin/env python3
"""Makes tools/schema.json, a JSON Schema (2020-12), from the tables of tools/JSON.md.

    tools/json_schema.py            writes tools/schema.json
    tools/json_schema.py --check    exits with 1 if that file is not what would be written

Each section with a table becomes a definition: "$defs"/load is what `feedrate load --json` prints, "$defs"/rows a line
of results.jsonl. The type of a key comes from the column "value", whether it may be null or left out from the last
column. Objects are closed: they have the keys of the page and no others.
"""
import copy
import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE, SCHEMA = FOLDER / "JSON.md", FOLDER / "schema.json"

DESCRIPTION = ("What feedrate prints with --json, the rows of results.jsonl (rows) and the plans of `feedrate bench` "
               "(plan-files): one definition for each. Made from JSON.md by json_schema.py.")
PLAIN = {"text": "string", "whole number": "integer", "number": "number", "true or false": "boolean"}
PLURAL = {"text": "text", "whole numbers": "whole number", "numbers": "number"}
LINK = re.compile(r"\[[^\]]+\]\(#([a-z-]+)\)")


class Row:
    """A row of a table: a key, by its path, and what the page says of it."""

    def __init__(self, place, cells, is_output):
        self.path, self.value, self.meaning, self.last = cells
        last = self.last
        self.path = self.path.strip("`")
        self.place = place  # for messages
        self.is_output = is_output
        # "no sidecar; absent: …": null in the first case, left out in the second.
        cases = [case for case in last.split("; ") if case]
        absent = [case for case in cases if case.startswith("absent: ")]
        self.may_be_null = is_output and len(cases) > len(absent)
        self.required = not absent if is_output else last == "refused"


class Section:
    def __init__(self):
        self.rows = []
        self.also = []  # sections whose keys this one has, too


def fail(place, problem):
    sys.exit(f"json_schema: {place}: {problem}")


def anchor(title):
    return re.sub(r"[^a-z0-9-]", "", title.lower().replace(" ", "-"))


def parent(path):
    return path.rpartition(".")[0]


def spelt_out(cell, above):
    """The cell with what stands above it instead of "the same"."""
    return "; ".join(above if part in ("the same", "absent: the same") else part for part in cell.split("; "))


def read_page(text):
    sections, name, is_output = {}, "", False
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{PAGE.name}, line {number}"
        if line.startswith("#"):
            name = anchor(line.lstrip("# "))
            sections[name] = Section()
        elif line.startswith("Also every key of "):
            sections[name].also = LINK.findall(line)
        elif line.startswith("|"):
            cells = [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if len(cells) != 4:
                fail(place, f"expected 4 cells, found {len(cells)}")
            if cells[0] == "key":
                is_output = cells[3] == "null"  # a table of input says what holds without the key
            elif cells[0].startswith("`"):
                rows = sections[name].rows
                above = [row for row in rows if parent(row.path) == parent(cells[0].strip("`"))]
                if "the same" in cells[3].split("; ") and not (above and above[-1].last):
                    fail(place, "the row above does not say when it is null")
                if above:
                    cells[2:] = [spelt_out(cells[2], above[-1].meaning), spelt_out(cells[3], above[-1].last)]
                rows.append(Row(place, cells, is_output))
    return sections


def or_null(schema):
    if "type" in schema:
        schema["type"] = [schema["type"], "null"]
        return schema
    return {"anyOf": [schema, {"type": "null"}]}


def describe(schema, row):
    """Adds the unit, the meaning, and when the value is null or absent."""
    unit = row.value.partition(", ")[2] if not row.value.startswith("list") else ""
    parts = [LINK.sub(lambda link: link.group(0)[1:link.group(0).index("]")], row.meaning)]
    if unit and unit != "SHA-256":
        parts.insert(0, unit)
    if row.may_be_null:
        parts.append("null: " + row.last)
    elif row.is_output:
        parts.append(row.last)
    text = "; ".join(part for part in parts if part)
    if text:
        schema["description"] = text
    return schema


class Maker:
    def __init__(self, sections):
        self.sections = sections

    def rows_of(self, name):
        """All rows of a section: its own, then those of the sections that it includes."""
        section = self.sections[name]
        rows = {row.path: row for row in section.rows}
        for other in section.also:
            rows |= {row.path: row for row in self.rows_of(other) if row.path not in rows}
        return list(rows.values())

    def object_of(self, rows, before=""):
        """The object whose keys' paths start with `before`."""
        schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
        for row in rows:
            key = row.path[len(before):]
            if not row.path.startswith(before) or "." in key:
                continue
            value = describe(self.value_of(row, rows), row)
            if key == "*":
                schema["additionalProperties"] = value
                continue
            schema["properties"][key] = value
            if row.required:
                schema["required"].append(key)
        return {key: value for key, value in schema.items() if value not in ({}, [])}

    def reference(self, row, rows, name, before):
        """Another section, with the keys that this one adds to it."""
        if name not in self.sections:
            fail(row.place, f"no section #{name}")
        added = self.object_of(rows, before)
        if "properties" not in added:
            return {"$ref": f"#/$defs/{name}"}
        whole = copy.deepcopy(self.object_of(self.rows_of(name)))
        whole["properties"].update(added["properties"])
        whole["required"] += added.get("required", [])
        return whole

    def value_of(self, row, rows):
        kind = row.value.partition(", ")[0]
        link = LINK.search(row.value)
        if kind.startswith("list"):
            item = self.item_of(row, rows, kind.removeprefix("list").removeprefix(" of "), link)
            schema = {"type": "array", "items": item}
            # In a plan a single value counts as a list of one.
            if not row.is_output and item.get("type") != "object" and "$ref" not in item:
                schema = {"anyOf": [item, schema]}
        elif link:
            schema = self.reference(row, rows, link.group(1), row.path + ".")
        elif kind == "object":
            schema = self.object_of(rows, row.path + ".")
        elif kind in PLAIN:
            schema = {"type": PLAIN[kind]}
            if row.value.endswith("SHA-256"):
                schema["pattern"] = "^([0-9a-f]{64})?$"
        else:
            fail(row.place, f"no type is called '{row.value}'")
        return or_null(schema) if row.may_be_null else schema

    def item_of(self, row, rows, kind, link):
        if link:
            return self.reference(row, rows, link.group(1), row.path + "[].")
        if kind in PLURAL:
            return {"type": PLAIN[PLURAL[kind]]}
        if kind:
            fail(row.place, f"no type is called '{row.value}'")
        return self.object_of(rows, row.path + "[].")

    def schema(self):
        definitions = {name: self.object_of(self.rows_of(name))
                       for name, section in self.sections.items() if section.rows}
        # A condition compares with one value or with any of a list.
        for key, value in definitions["condition"]["properties"].items():
            kind = {"type": value.pop("type")}
            value["anyOf"] = [kind, {"type": "array", "items": kind}]
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "feedrate",
                "description": DESCRIPTION, "$defs": definitions}


def main():
    made = json.dumps(Maker(read_page(PAGE.read_text())).schema(), indent=1, ensure_ascii=False) + "\n"
    if sys.argv[1:] == ["--check"]:
        if SCHEMA.read_text() != made:
            fail(SCHEMA.name, f"is not what {PAGE.name} says; run tools/json_schema.py")
    elif len(sys.argv) == 1:
        SCHEMA.write_text(made)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
