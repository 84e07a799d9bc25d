"""Packs a bundle: the installed package with every library that it needs, the tests of the CUDA
backend and these scripts, for a machine without packages or network."""

import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

from budget import Problem

MAX_BYTES = 45_000_000
READ_BY_TESTS = "tests/trainer/parity"
UNUSED = ["include", "lib/cmake", "share/man", "share/bash-completion", "share/zsh", "share/fish"]


def pack(place, file, fast, package):
    if not (place.program.parent / "CMakeCache.txt").exists():
        raise Problem(f"--pack needs a build; {place.program.parent} is none")
    with tempfile.TemporaryDirectory(dir=file.resolve().parent) as directory:
        root = pathlib.Path(directory) / "bundle"
        fill(place, root, package or place.package)
        partial = root.parent / "partial"
        write(root, partial, 0 if fast else 6)
        size = partial.stat().st_size
        if size > MAX_BYTES and not fast:
            raise Problem(f"the bundle has {size:,} bytes; at most {MAX_BYTES:,} are wanted")
        os.replace(partial, file)
    print(f"{file}: {size / 1e6:.1f} MB")


def fill(place, root, package):
    for component in ([], ["--component", "carried"]):
        call("cmake", "--install", place.program.parent, "--prefix", root, "--strip", *component)
    for name in UNUSED:
        shutil.rmtree(root / name, ignore_errors=True)
    for file in [*root.glob("lib/*.a"), *root.glob("lib/libfeedrate.so*")]:
        file.unlink()
    tests = root / "tests"
    tests.mkdir()
    shutil.copy2(place.tests, tests)
    call("strip", tests / place.tests.name)
    # Tests load the plug-ins that lie beside them.
    for backend in ("cpu", "cuda"):
        (tests / f"libfeedrate_{backend}.so").symlink_to(f"../lib/libfeedrate_{backend}.so")
    check_carried(root)
    carry_package(package, root)
    shutil.copytree(place.root / READ_BY_TESTS, root / READ_BY_TESTS,
                    ignore=shutil.ignore_patterns("*.py"))
    scripts = pathlib.Path(__file__).resolve().parent
    shutil.copytree(scripts, root / scripts.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(scripts.parent / "gpu_check.sh", root)


def carry_package(package, root):
    """The Python package, whose program is the bundle's. Its module finds the libraries in ../../lib."""
    modules = list(package.glob("feedrate/_native*.so"))
    if not modules:
        print(f"{package} holds no built package feedrate: none is carried")
        return
    carried = root / "python/feedrate"
    (carried / "bin").mkdir(parents=True)
    for file in [*package.glob("feedrate/*.py"), *modules]:
        shutil.copy2(file, carried)
    call("strip", *carried.glob("*.so"))
    (carried / "bin/feedrate").symlink_to("../../../bin/feedrate")


def check_carried(root):
    """The tests must need no library that the program does not need."""
    said = call("ldd", root / "tests/test_trainer",
                environment={"LD_LIBRARY_PATH": str(root / "lib")})
    own = {file.name for file in (root / "lib").iterdir()}
    system = ("ld-linux", "linux-vdso", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so",
              "libmvec.so", "libresolv.so")
    for line in said.splitlines():
        name = pathlib.Path(line.split()[0]).name
        if name not in own and not name.startswith(system):
            raise Problem(f"test_trainer needs {name}, which the package does not carry")


def write(root, file, effort):
    with tarfile.open(file, "w:xz", preset=effort) as bundle:
        for path in sorted(root.rglob("*")):
            bundle.add(path, str(path.relative_to(root)), recursive=False, filter=anonymous)


def anonymous(entry):
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    return entry


def call(*words, environment=None):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          env=os.environ | (environment or {}))
    if done.returncode != 0:
        raise Problem(f"{' '.join(map(str, words))}: {(done.stderr or done.stdout).strip()}")
    return done.stdout
