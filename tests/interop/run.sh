#!/usr/bin/env bash
# Feedrate against the tools that own its formats: tests/interop/run.sh [NAME…]
#
# Every NAME.py here writes with us and reads with them, writes with them and reads with us, and
# compares labels and pixels. What it needs of PyPI stands in NAME.txt and is installed into a
# virtual environment of its own under $FEEDRATE_INTEROP (~/.cache/feedrate-interop), unless that
# file names Debian's package ("# debian: …") and it is there. What cannot be installed is skipped
# with a sentence. The program is $FEEDRATE, or build/release/feedrate.
set -uo pipefail
cd "$(dirname "$0")/../.."
cache=${FEEDRATE_INTEROP:-${XDG_CACHE_HOME:-$HOME/.cache}/feedrate-interop}

if [ -z "${FEEDRATE:-}" ]; then
  FEEDRATE=$PWD/build/release/feedrate
  cmake --preset release >/dev/null && cmake --build --preset release --target feedrate >/dev/null || {
    echo "interop: feedrate does not build" >&2
    exit 1
  }
fi

# The interpreter of an environment with the packages of a script; made once.
python_for() {
  local name=$1 list=tests/interop/$1.txt
  [ -f "$list" ] || list=/dev/null
  local debian
  debian=$(sed -n 's/^# debian: //p' "$list")
  if [ -n "$debian" ] && dpkg-query -W "$debian" >/dev/null 2>&1; then
    echo /usr/bin/python3
    return
  fi
  local home
  home=$cache/$name-$(sha256sum <"$list" | cut -c1-12)
  if [ ! -f "$home/ready" ]; then
    rm -rf "$home"
    mkdir -p "$cache"
    python3 -m venv "$home" >"$cache/$name.log" 2>&1 &&
      "$home/bin/python" -m pip install --disable-pip-version-check -q -r "$list" >>"$cache/$name.log" 2>&1 &&
      touch "$home/ready" || return 1
  fi
  echo "$home/bin/python"
}

if [ $# -eq 0 ]; then
  for script in tests/interop/*.py; do set -- "$@" "$(basename "$script" .py)"; done
fi
failed=0
for name in "$@"; do
  if ! command -v python3 >/dev/null || ! python=$(python_for "$name"); then
    echo "$name: skipped: its packages cannot be installed (no network, or no venv; see $cache/$name.log)"
    continue
  fi
  "$python" "tests/interop/$name.py" "$FEEDRATE" || {
    echo "$name: FAILED"
    failed=1
  }
done
exit $failed
