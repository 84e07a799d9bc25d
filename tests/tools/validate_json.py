#!/usr/bin/env python3
"""Validates JSON by the definitions of a schema.   validate_json.py SCHEMA FILE

FILE holds a list of {"section": NAME, "object": …}; each object must be valid by "$defs"/NAME. Exits with 1 if one is
not, and with 77 where python3 has no jsonschema (Debian: python3-jsonschema).
"""
import json
import sys

try:
    import jsonschema
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

with open(sys.argv[1]) as schema_file, open(sys.argv[2]) as file:
    schema, found = json.load(schema_file), json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
wrong = 0
for one in found:
    part = {"$schema": schema["$schema"], "$ref": "#/$defs/" + one["section"], "$defs": schema["$defs"]}
    for error in jsonschema.Draft202012Validator(part).iter_errors(one["object"]):
        wrong += 1
        print(f"{one['section']}: {error.json_path}: {error.message[:300]}", file=sys.stderr)
sys.exit(1 if wrong else 0)
