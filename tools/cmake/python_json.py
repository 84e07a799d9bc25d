"""Prints the stub of feedrate._json, what commands return, from the schema of what they print: python_json.py PROGRAM"""

import json
import keyword
import subprocess
import sys

COMMANDS = ("convert", "verify", "inspect", "advise")
SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def camel(name):
    return "".join(word.capitalize() for word in name.replace("-", "_").split("_"))


class Stub:
    """Types by name."""

    def __init__(self):
        self.classes = {}

    def type_of(self, schema, name):
        if "$ref" in schema:
            return camel(schema["$ref"].split("/")[-1])
        if "enum" in schema or "const" in schema:
            values = schema.get("enum", [schema.get("const")])
            return f"Literal[{', '.join(map(repr, values))}]"
        if "anyOf" in schema:
            return " | ".join(self.type_of(one, name) for one in schema["anyOf"])
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return " | ".join(self.type_of_kind(kind, schema, name) for kind in kinds)

    def type_of_kind(self, kind, schema, name):
        if kind == "array":
            return f"list[{self.type_of(schema['items'], name)}]"
        if kind != "object":
            return SIMPLE[kind]
        if "properties" not in schema:
            return f"dict[str, {self.type_of(schema['additionalProperties'], name)}]"
        self.add(schema, name)
        return name

    def define(self, schema, name):
        if "properties" in schema:
            self.add(schema, name)
        else:
            self.classes[name] = f"{name} = {self.type_of(schema, name)}"

    def add(self, schema, name):
        lines = [f"class {name}(TypedDict):"]
        for key, value in schema["properties"].items():
            inner = self.type_of(value, name + camel(key))
            if key not in schema.get("required", []):
                inner = f"NotRequired[{inner}]"
            if not key.isidentifier() or keyword.iskeyword(key):
                sys.exit(f"python_json: {name}.{key}: a key of --json has to be a name in Python, and no keyword")
            lines.append(f"    {key}: {inner}")
            if "description" in value:
                lines.append(f"    {value['description']!r}")
        self.classes[name] = "\n".join(lines)


def main():
    stub = Stub()
    for command in COMMANDS:
        schema = json.loads(subprocess.check_output([sys.argv[1], "schema", command]))
        for name, one in schema["$defs"].items():
            stub.define(one, camel(name))
    print("# Made by the build from what `feedrate schema` prints.")
    print("from typing import Literal, TypedDict")
    print("from typing_extensions import NotRequired")
    for text in stub.classes.values():
        print(f"\n{text}")


main()
