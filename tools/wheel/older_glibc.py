#!/usr/bin/env python3
"""Makes the shared libraries of a glibc link like those of an older one: older_glibc.py 2.28 LIBRARY…

Hides what came later from the linker, in place, and makes the older version of a symbol that has
several the default one. A program that needs something newer then does not link.
"""
import re
import struct
import sys

HIDDEN = 0x8000  # bit of a .gnu.version entry: found only by who names the version
VERSION_INDEX = 0x7FFF
SECTION_TYPES = {11: "dynsym", 0x6FFFFFFD: "verdef", 0x6FFFFFFF: "versym"}


def sections(elf):
    """The sections that name symbols and versions: offset, size and offset of their names."""
    if elf[:6] != b"\x7fELF\x02\x01":
        raise SystemExit(f"{sys.argv[0]}: expected a little-endian 64-bit ELF file")
    table, = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQII", elf, table + i * size) for i in range(count)]
    return {SECTION_TYPES[h[1]]: (h[4], h[5], headers[h[6]][4]) for h in headers if h[1] in SECTION_TYPES}


def text(elf, at):
    return elf[at:elf.index(0, at)].decode()


def number(version):
    """(2, 29) of GLIBC_2.29; nothing of GLIBC_PRIVATE and the like."""
    found = re.fullmatch(r"GLIBC_([0-9.]+)", version)
    return tuple(map(int, found[1].split("."))) if found else None


def versions(elf, section):
    """The name of each version that is defined, by its index."""
    at, _, names = section
    found = {}
    while True:
        index, _, _, auxiliary, following = struct.unpack_from("<HHIII", elf, at + 4)
        found[index] = text(elf, names + struct.unpack_from("<I", elf, at + auxiliary)[0])
        if following == 0:
            return found
        at += following


def make_older(elf, limit):
    found = sections(elf)
    if len(found) < 3:
        return  # no versions
    name_of = versions(elf, found["verdef"])
    at, size, names = found["dynsym"]
    symbols = {}  # the versions of each: (version, place of its entry)
    for i in range(size // 24):
        name, _, _, section = struct.unpack_from("<IBBH", elf, at + 24 * i)
        place = found["versym"][0] + 2 * i
        version = number(name_of.get(struct.unpack_from("<H", elf, place)[0] & VERSION_INDEX, ""))
        if section != 0 and version:
            symbols.setdefault(text(elf, names + name), []).append((version, place))
    for places in symbols.values():
        if max(places)[0] <= limit:
            continue
        older = [place for version, place in sorted(places) if version <= limit]
        for _, place in places:
            index = struct.unpack_from("<H", elf, place)[0] & VERSION_INDEX
            struct.pack_into("<H", elf, place, index if place in older[-1:] else index | HIDDEN)


limit = tuple(map(int, sys.argv[1].split(".")))
for path in sys.argv[2:]:
    with open(path, "r+b") as file:
        elf = bytearray(file.read())
        make_older(elf, limit)
        file.seek(0)
        file.write(elf)
