"""Why a package for one kind of Linux cannot be imported on another."""

from __future__ import annotations

import os


def reason(error: ImportError) -> ImportError:
    """What to raise in place of `error`, with which the compiled module failed to load."""
    try:
        libc = os.confstr("CS_GNU_LIBC_VERSION")
    except (ValueError, OSError):
        libc = None
    if libc is None:
        found = "this Python has another C library, such as musl"
    elif "GLIBC_" in str(error):
        found = f"found {libc}"
    else:
        return error
    return ImportError(
        f"this package of feedrate needs glibc 2.28 or newer; {found}; build feedrate from its source instead",
        name="feedrate",
    )
