#!/usr/bin/env python3
"""Finds the few small inputs of a fuzzer's corpus that reach every branch that the whole reaches.

    minimise.py FUZZER FOUND KEPT BYTES

Adds files from the directory FOUND to the directory KEPT and removes unneeded ones from KEPT, but never
a file named regression-…, which once crashed. Keeps at most BYTES in all.
"""
import hashlib
import pathlib
import subprocess
import sys
import tempfile

fuzzer, found, kept, max_bytes = sys.argv[1:]
kept, max_bytes = pathlib.Path(kept), int(max_bytes)
kept.mkdir(parents=True, exist_ok=True)
regressions = sorted(kept.glob("regression-*"))

# libFuzzer merges files by size and logs for each the branches that no earlier file reached.
with tempfile.TemporaryDirectory() as directory:
    control = pathlib.Path(directory, "control")
    subprocess.run([fuzzer, "-merge=1", f"-merge_control_file={control}", directory, kept, found],
                   stderr=subprocess.DEVNULL, check=True)
    lines = control.read_text().splitlines()
names = lines[2:2 + int(lines[0])]
new_branches = {int(words[1]): len(words) - 2
                for words in map(str.split, lines) if words[0] == "COV"}

chosen, size = {}, sum(file.stat().st_size for file in regressions)
for number in sorted(new_branches, key=lambda n: -new_branches[n]):
    content = pathlib.Path(names[number]).read_bytes()
    if new_branches[number] == 0 or size + len(content) > max_bytes:
        continue
    chosen[hashlib.sha256(content).hexdigest()[:12]] = content
    size += len(content)

for file in kept.iterdir():
    if file not in regressions:
        file.unlink()
for name, content in chosen.items():
    (kept / name).write_bytes(content)
