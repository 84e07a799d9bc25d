"""The command line of gpu_check.sh."""

import argparse
import pathlib
import signal
import sys

import bundle
import guard
import steps
import summary
from budget import Problem
from check import Check, NoDevice
from place import Place


class Stopped(BaseException):
    """A signal: whoever lends the machine, or sits before it, wants it back."""


def stop(number, frame):
    """The first signal ends the check. The rest are ignored, for what is left takes seconds."""
    for other in guard.STOPS:
        signal.signal(other, signal.SIG_IGN)
    raise Stopped


def main():
    parser = argparse.ArgumentParser(prog="gpu_check.sh", allow_abbrev=False)
    parser.add_argument("--pack", type=pathlib.Path, metavar="FILE.tar.xz")
    parser.add_argument("--fast", action="store_true", help="pack with less effort, for tests")
    parser.add_argument("--package", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--minutes", type=float, default=9)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--from", dest="kept", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("gpu_check.results"))
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--cache", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--cifar10", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--only", metavar="STEP,…", type=lambda names: names.split(","))
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(steps.STEPS))
        return 0
    if options.pack:
        bundle.pack(Place.here(), options.pack, options.fast, options.package)
        return 0
    if not options.minutes > 0:
        parser.error("--minutes: expected a number above 0")
    if options.kept and not (options.kept / "steps.jsonl").exists():
        raise Problem(f"{options.kept} holds no steps.jsonl that --keep of an earlier call wrote")
    if options.kept and options.resume:
        parser.error("--from goes on with what another machine left, --resume with what --out holds: "
                     "expected one of them")
    unknown = [name for name in options.only or [] if name not in steps.STEPS]
    if unknown:
        parser.error(f"--only: there is no step '{unknown[0]}'; --list names them")
    check = Check(Place.here(), options)
    for number in guard.STOPS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup leaves it
            signal.signal(number, stop)
    try:
        steps.run_all(check)
        summary.page(check)
    except NoDevice as reason:
        print(f"gpu_check: no GPU can be used here: {reason}", file=sys.stderr)
        return 1
    except Stopped:
        print("gpu_check: interrupted", file=sys.stderr)
    return summary.write(check)


try:
    sys.exit(main())
except (Problem, OSError) as problem:
    print(f"gpu_check: {problem}", file=sys.stderr)
    sys.exit(1)
