#!/usr/bin/env bash
# Proves the CUDA backend on a machine with a GPU, then measures it beside PyTorch, within a budget of
# minutes. One command where the project is built, two where nothing is installed but Python:
#
#   samples/gpu_check.sh [OPTION…]                       runs this build
#   samples/gpu_check.sh --pack FILE.tar.xz              bundles this build and these scripts
#   gpu_check.sh --unpack-and-run FILE.tar.xz [OPTION…]  runs a bundle; unpacks it beside FILE
#
#   --package DIR   with --pack: the folder of the Python package to carry (default: this build's); one
#                   that is built for Python 3.12 or newer serves all of these
#   --minutes N     stop in time (default 9)
#   --out DIR       rows, logs and the summary (default gpu_check.results)
#   --keep DIR      after each step, put at most seven files there: all that should be brought home
#   --resume        go on where an earlier call with the same --out stopped; what failed is repeated
#   --from DIR      go on where a call on another machine stopped, of which this is what --keep kept
#   --cache DIR     where cuDNN's engines are kept once they are chosen (default: in --out)
#   --only STEP,…   only these steps; --list names all of them, in their order
#   --cifar10 DIR   CIFAR-10's archive, to train on; everything else is made there
#
# gpu_check/README.md says what the steps are, and what they cost. CUDA's libraries come from the nvidia-*
# wheels of the python3 that runs this ($FEEDRATE_PYTHON) or from the toolkit. Exits with 0 if all that
# ran passed, with 1 if something failed or there is no GPU.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${FEEDRATE_PYTHON:-python3}

fail() { echo "gpu_check: $1" >&2; exit "${2:-1}"; }
command -v "$python" >/dev/null || fail "$python is not installed; it runs the check"

if [ "${1:-}" = --unpack-and-run ]; then
  [ $# -ge 2 ] || fail "--unpack-and-run needs the FILE that --pack made" 2
  [ -f "$2" ] || fail "$2 does not exist"
  into=${2%.tar.xz}.unpacked
  rm -rf "$into"
  "$python" - "$2" "$into" <<'EOF'
import lzma, sys, tarfile
try:
    with tarfile.open(sys.argv[1], "r:xz") as bundle:
        if hasattr(tarfile, "data_filter"):
            bundle.extractall(sys.argv[2], filter="data")
        else:
            bundle.extractall(sys.argv[2])
except (EOFError, OSError, lzma.LZMAError, tarfile.TarError) as problem:
    sys.exit(f"gpu_check: {sys.argv[1]} cannot be unpacked ({problem}); is it whole, and the disk not full?")
EOF
  shift 2
  exec "$into/gpu_check.sh" "$@"
fi
exec "$python" -B -X utf8 "$here/gpu_check" "$@" # whatever the locale: rows and summary are UTF-8
