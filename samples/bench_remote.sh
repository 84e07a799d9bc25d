#!/usr/bin/env bash
# Measures datasets of servers on this machine beside the disk: RecordIO of photographs from nginx over
# HTTP, over TLS and with each answer 50 ms late, and from a cache, after it has held their digests
# against the disk's at several threads and ranks. With --peers, LitData, Mosaic's streaming and
# webdataset read the same photographs, and raw pixels, from the same SeaweedFS as ours.
#
#   samples/bench_remote.sh [--peers] [OUT]        OUT: scratch and results (default build/bench-remote)
#
# The servers work on the same cores as the loader, so that rates are lower bounds. Prints tables and leaves
# OUT/remote.jsonl. Uses real archives from $FEEDRATE_DATA (imagenet/) where it is set; `feedrate synth` makes
# them otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."
peers=()
if [ "${1:-}" = --peers ]; then peers=(--peers) && shift; fi
out=${1:-build/bench-remote}

tools/install-deps.sh
root=()
if [ "$(id -u)" != 0 ]; then root=(sudo); fi
if ! command -v nginx >/dev/null || [ ! -e /usr/lib/nginx/modules/ngx_http_echo_module.so ]; then
  "${root[@]}" apt-get install -y -q nginx-light libnginx-mod-http-echo openssl >&2
fi
cmake --preset release >&2
cmake --build --preset release --target feedrate >&2
mkdir -p "$out"
python=python3
if [ "${#peers[@]}" != 0 ]; then
  python=$out/venv/bin/python
  [ -x "$python" ] || python3 -m venv "$out/venv"
  "$python" -m pip install -q -r samples/peers/remote.txt
fi
exec "$python" samples/peers/bench_remote.py --feedrate build/release/feedrate --out "$out" "${peers[@]}"
