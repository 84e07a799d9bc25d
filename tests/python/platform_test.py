"""Where the compiled module cannot be loaded, the import says why."""

import os
import shutil
import subprocess
import sys
import unittest

import feedrate
from support import place

ELSEWHERE = """
import os, sys
def confstr(name):
    {libc}
os.confstr = confstr
sys.path.insert(0, {path!r})
try:
    import feedrate
except ImportError as error:
    print(error)
"""


def imported(libc, module):
    """What an import says of a package whose module fails with `module`, where confstr does `libc`."""
    path = place("elsewhere")
    shutil.rmtree(path, ignore_errors=True)
    ignored = shutil.ignore_patterns("_native*", "bin", "__pycache__")
    shutil.copytree(os.path.dirname(feedrate.__file__), path + "/feedrate", ignore=ignored)
    with open(path + "/feedrate/_native.py", "w", encoding="utf-8") as file:
        file.write(f"raise ImportError({module!r})\n")
    script = ELSEWHERE.format(libc=libc, path=path)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


class HostilePlatform(unittest.TestCase):
    def test_musl_is_named(self):
        said = imported("raise ValueError", "Error loading shared library ld-linux-x86-64.so.2")
        self.assertIn("needs glibc 2.28 or newer; this Python has another C library, such as musl;", said)
        self.assertEqual(said.count("\n"), 1)

    def test_an_older_glibc_is_named(self):
        said = imported("return 'glibc 2.17'", "version `GLIBC_2.28' not found (required by _native.so)")
        self.assertIn("needs glibc 2.28 or newer; found glibc 2.17;", said)

    def test_other_failures_stay_what_they_are(self):
        self.assertEqual(imported("return 'glibc 2.36'", "libfoo.so: no such file"), "libfoo.so: no such file\n")


if __name__ == "__main__":
    unittest.main()
