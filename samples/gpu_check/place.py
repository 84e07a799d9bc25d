"""Where the program, its tests and CUDA's libraries are: in a build or in an unpacked bundle."""

import os
import pathlib
import shutil
import sys

from budget import Problem

# What the plug-in loads, and whether it can do without.
LIBRARIES = {"libcudnn.so.9": True, "libcublasLt.so.1*": True, "libnvrtc.so.1*": True,
             "libnccl.so.2": False}


class Place:
    def __init__(self, program, tests, own_libraries, root, package):
        self.program, self.tests, self.root = program, tests, root
        self.package = package  # the folder of the Python package; it may be for another Python, or absent
        self.own_libraries = own_libraries  # that the tests need; a build's need none
        for file in (program, tests, tests.parent / "libfeedrate_cuda.so"):
            if not file.exists():
                raise Problem(f"{file} does not exist; build the targets feedrate and test_trainer, "
                              "with CUDA")

    @staticmethod
    def here():
        scripts = pathlib.Path(__file__).resolve().parent.parent
        if (scripts / "bin" / "feedrate").exists():
            return Place(scripts / "bin/feedrate", scripts / "tests/test_trainer",
                         [scripts / "lib"], scripts, scripts / "python")
        source = scripts.parent
        build = pathlib.Path(os.environ.get("FEEDRATE_BUILD", source / "build/release")).resolve()
        return Place(build / "feedrate", build / "test_trainer", [], source, build / "python")

    def environment(self, kind):
        """For the `program` (and the Python that it starts), or for the `tests`. The package's own
        libraries are found by the program itself, and must not be found by Python, for which they
        may be too old."""
        folders = (self.own_libraries if kind == "tests" else []) + library_folders()
        old = os.environ.get("LD_LIBRARY_PATH")
        paths = [str(folder) for folder in folders] + ([old] if old else [])
        return {"LD_LIBRARY_PATH": ":".join(paths), "FEEDRATE_PYTHON": sys.executable,
                "FEEDRATE_SOURCE": str(self.root)}


def library_folders():
    """Those of the nvidia-* wheels, then the toolkit's."""
    wheels = [folder for place in sys.path for folder in pathlib.Path(place).glob("nvidia/*/lib")]
    toolkits = [toolkit / folder for toolkit in toolkit_folders() for folder in ("lib64", "lib")]
    found = []
    for folder in wheels + toolkits:
        if folder.is_dir() and folder.resolve() not in found:
            found.append(folder.resolve())
    return found


def toolkit_folders():
    home = os.environ.get("CUDA_HOME")
    return ([pathlib.Path(home)] if home else []) + [pathlib.Path("/usr/local/cuda")]


def tool(name):
    """A program of the toolkit, or None."""
    places = [str(folder / "bin") for folder in toolkit_folders()]
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *places]))


def libraries():
    """The file of each library; None where there is none."""
    return {name: next((str(file) for folder in library_folders()
                        for file in sorted(folder.glob(name))), None) for name in LIBRARIES}
