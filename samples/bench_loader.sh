#!/usr/bin/env bash
# Measures the loader on 2 threads for common kinds of images (original JPEGs in four formats,
# re-encoded and resized ones, raw pixels, CIFAR-10, MNIST), beside plain threads that do the same
# work and share nothing and, with --peers, beside torchvision's DataLoader and FFCV's Loader with 2
# workers each. Installing FFCV compiles it, which needs torch, libopencv-dev and libturbojpeg0-dev.
#
#   samples/bench_loader.sh [--peers] [OUT]        OUT: scratch and results (default build/bench-loader)
#
# Prints a table and leaves OUT/loader.jsonl. Uses real archives from $FEEDRATE_DATA (mnist/, cifar10/,
# imagenet/) where it is set; `feedrate synth` makes the missing ones.
set -euo pipefail
cd "$(dirname "$0")/.."
peers=no
if [ "${1:-}" = --peers ]; then peers=yes && shift; fi
out=${1:-build/bench-loader}

tools/install-deps.sh
cmake --preset release -DFEEDRATE_TESTS=ON >&2
cmake --build --preset release --target feedrate bench_loader >&2
mkdir -p "$out"

peer=()
if [ "$peers" = yes ]; then
  first_with() {  # MODULE PYTHON…
    local module=$1 python
    for python in "${@:2}"; do
      if "$python" -c "import $module" 2>/dev/null; then echo "$python" && return; fi
    done
    return 1
  }
  install() { "$1" -m pip install -q --retries 1 --timeout 10 -r "$2"; }

  python=$(first_with torchvision python3 /usr/bin/python3 "$out/venv/bin/python") || {
    python=$out/venv/bin/python
    python3 -m venv "$out/venv" && install "$python" tests/interop/torchvision_folder.txt
  } || echo "bench_loader: torchvision could not be installed; going on without it" >&2
  peer=(--peer-python "$python")

  ffcv=$(first_with ffcv python3 /usr/bin/python3 "$out/ffcv/bin/python") || {
    torch=$(first_with torch python3 /usr/bin/python3) &&
      "$torch" -m venv --system-site-packages "$out/ffcv" && ffcv=$out/ffcv/bin/python &&
      install "$ffcv" samples/peers/ffcv.txt >"$out/ffcv.log" 2>&1
  } || {
    echo "bench_loader: FFCV could not be installed (see $out/ffcv.log; it needs torch," \
      "libopencv-dev and libturbojpeg0-dev); going on without it" >&2
    ffcv=
  }
  if [ -n "$ffcv" ]; then peer+=(--ffcv-python "$ffcv"); fi
fi
exec python3 samples/peers/bench_loader.py --build build/release --out "$out" "${peer[@]}"
