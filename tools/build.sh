#!/usr/bin/env bash
# Configures and builds the release preset, and shows one line of progress with the time left instead of a
# line for each file: tools/build.sh [arguments of cmake, such as -DFEEDRATE_TESTS=OFF]
# What compilers say is shown as it comes; build/release/build.log keeps everything.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p build/release
log=build/release/build.log
if ! cmake --preset release "$@" >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi

show_progress() { # reads Ninja's lines; where stderr is no terminal, prints a line for each tenth
  local line done total rest left erase='' shown=-1
  if [ -t 2 ]; then erase=$'\r\033[K'; fi
  SECONDS=0
  while IFS= read -r line; do
    if [[ ! $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]]; then
      printf '%s%s\n' "$erase" "$line" >&2
      continue
    fi
    done=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    rest=$((SECONDS * (total - done) / (done > 0 ? done : 1)))
    left="$((rest / 60)) min $((rest % 60)) s"
    if [ -n "$erase" ]; then
      printf '%sbuilding: %d of %d, about %s left' "$erase" "$done" "$total" "$left" >&2
    elif [ $((10 * done / total)) -gt "$shown" ]; then
      shown=$((10 * done / total))
      echo "building: $done of $total, about $left left" >&2
    fi
  done
  printf '%s' "$erase" >&2
}

NINJA_STATUS="[%f/%t] " cmake --build --preset release 2>&1 | tee -a "$log" | show_progress
