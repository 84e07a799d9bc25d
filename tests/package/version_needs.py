#!/usr/bin/env python3
"""Says which versions of the platform's libraries a wheel, a program or a library needs:

    version_needs.py FILE… [--glibc 2.28 [--glibcxx 3.4.19]]

With --glibc, fails where one needs a newer glibc, a libstdc++, whose versions older systems lack (or, with
--glibcxx, one newer than that), or a library that neither glibc nor the wheel brings. Reads with readelf,
so any processor's files.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import zipfile

# glibc's, and libgcc_s, which glibc itself loads; CUDA's come with the nvidia-* wheels and the driver.
PLATFORM = re.compile(r"(lib(c|m|dl|rt|pthread|resolv|util|gcc_s)|ld-linux.*)\.so\.\d+|lib(cu|nv|nccl).*\.so.*")
GCC = (7, 0)  # of libgcc_s: what the systems of glibc 2.28 have, such as RHEL 8


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def needs_of(path):
    """The libraries that a file names, and the versions of each kind that it needs."""
    said = subprocess.run(["readelf", "--wide", "--dynamic", "--version-info", path],
                          check=True, capture_output=True, text=True).stdout
    libraries = re.findall(r"\(NEEDED\).*\[(.+)\]", said)
    wanted = said.split("Version needs section", 1)
    versions = {}
    for kind, number in re.findall(r"Name: ([A-Z]+)_([0-9.]+)", wanted[1] if len(wanted) > 1 else ""):
        versions.setdefault(kind, set()).add(tuple(map(int, number.split("."))))
    return libraries, versions


def files_of(path, work):
    """The programs and libraries of a wheel, or the file itself."""
    if not zipfile.is_zipfile(path):
        if not is_elf(path):
            raise SystemExit(f"version_needs: {path}: expected a wheel, a program or a library")
        return {path: path}
    with zipfile.ZipFile(path) as wheel:
        wheel.extractall(work)
    inside = [os.path.join(at, name) for at, _, names in os.walk(work) for name in names]
    return {os.path.relpath(file, work): file for file in sorted(inside) if is_elf(file)}


def complaints(libraries, versions, carried, limits):
    for name in libraries:
        platform = PLATFORM.fullmatch(name) or "GLIBCXX" in limits and name == "libstdc++.so.6"
        if not platform and name not in carried:
            yield f"needs {name}, which older systems lack"
    for kind, limit in limits.items():
        newest = max(versions.get(kind, {()}))
        if newest > limit:
            yield f"needs {kind}_{'.'.join(map(str, newest))}; at most {'.'.join(map(str, limit))} is expected"
    for kind in versions.keys() & {"GLIBCXX", "CXXABI"} if "GLIBCXX" not in limits else ():
        yield f"needs {kind}_{'.'.join(map(str, max(versions[kind])))} of a libstdc++; none is expected"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("files", nargs="+", metavar="FILE")
    options.add_argument("--glibc")
    options.add_argument("--glibcxx")
    given = options.parse_args()
    limits = {kind: tuple(map(int, version.split(".")))
              for kind, version in {"GLIBC": given.glibc, "GLIBCXX": given.glibcxx}.items() if version}
    if limits:
        limits["GCC"] = GCC
    wrong = False
    for path in given.files:
        with tempfile.TemporaryDirectory() as work:
            files = files_of(path, work)
            carried = {os.path.basename(file) for file in files}
            if not files:
                raise SystemExit(f"version_needs: {path}: expected programs or libraries in it, found none")
            for name, file in files.items():
                libraries, versions = needs_of(file)
                newest = (f"{kind} {'.'.join(map(str, max(numbers)))}" for kind, numbers in sorted(versions.items()))
                print(f"{name}: {', '.join(newest) or 'no version'}; {' '.join(libraries)}")
                for complaint in complaints(libraries, versions, carried, limits) if limits else ():
                    print(f"version_needs: {path}: {name} {complaint}", file=sys.stderr)
                    wrong = True
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
