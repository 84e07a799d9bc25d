#!/usr/bin/env bash
# Tests Feedrate against the tools that own its formats: tests/interop/run.sh [NAME…]
#
# Every NAME.py here writes with Feedrate and reads with the tool, and the other way round, and compares
# labels and pixels; they share support/program.py. NAME.txt lists the PyPI packages that a script
# needs. They go into a virtual environment of its own under $FEEDRATE_INTEROP
# (~/.cache/feedrate-interop), unless NAME.txt names Debian packages ("# debian: …") that are installed.
# A script whose packages cannot be installed is skipped, with the reason. The program is $FEEDRATE, or
# build/release/feedrate.
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

# Sets `python` to the interpreter of an environment with a script's packages, which it makes on first
# use. On failure, sets `reason`.
python_for() {
  local name=$1 list=tests/interop/$1.txt
  [ -f "$list" ] || list=/dev/null
  local debian states
  debian=$(sed -n 's/^# debian: //p' "$list")
  # shellcheck disable=SC2086  # several names
  if [ -n "$debian" ] && states=$(dpkg-query -Wf '${db:Status-Status}\n' $debian 2>/dev/null) &&
    [ "$(sort -u <<<"$states")" = installed ]; then
    python=/usr/bin/python3
    return
  fi
  if ! command -v python3 >/dev/null; then
    reason="there is no python3"
    return 1
  fi
  local home log=$cache/$name.log
  home=$cache/$name-$(sha256sum <"$list" | cut -c1-12)
  python=$home/bin/python
  [ -f "$home/ready" ] && return
  rm -rf "$home"
  mkdir -p "$cache"
  if ! python3 -m venv "$home" >"$log" 2>&1; then
    reason="python3 cannot make a virtual environment (Debian: apt install python3-venv); see $log"
    return 1
  fi
  if ! "$python" -m pip install --disable-pip-version-check -q -r "$list" >>"$log" 2>&1; then
    reason="pip cannot install $(grep -v '^[#-]' "$list" | paste -sd ' ') for $("$python" --version)"
    # pip lists no versions when it could not reach the index.
    grep -q 'from versions: none' "$log" && reason+=": no network, or no such package there"
    reason+="; see $log"
    rm -rf "$home"
    return 1
  fi
  touch "$home/ready"
}

if [ $# -eq 0 ]; then
  for script in tests/interop/*.py; do set -- "$@" "$(basename "$script" .py)"; done
fi
failed=0
for name in "$@"; do
  if ! python_for "$name"; then
    echo "$name: skipped: $reason"
    continue
  fi
  "$python" "tests/interop/$name.py" "$FEEDRATE" || {
    echo "$name: FAILED"
    failed=1
  }
done
exit $failed
