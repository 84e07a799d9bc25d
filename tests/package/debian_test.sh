#!/usr/bin/env bash
# Asks tools/wheel/debian.sh for a package by an apt-get whose first update fails: the lists are then asked
# for again, not taken for whole.
set -euo pipefail
source=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "debian_test: $*" >&2; exit 1; }
mkdir bin
cat >bin/apt-get <<A
#!/bin/sh
for word; do
  case \$word in
    update) echo update >>"$work/asked"; [ -e "$work/reachable" ]; exit ;;
    download) echo download >>"$work/asked"; exit 0 ;;
  esac
done
A
chmod +x bin/apt-get
PATH=$work/bin:$PATH
. "$source/tools/wheel/debian.sh"
if debian bookworm download libc6; then fail "it went on without lists"; fi
[ "$(xargs <asked)" = update ] || fail "it asked for $(xargs <asked)"
touch reachable
debian bookworm download libc6
debian bookworm download libc6
[ "$(xargs <asked)" = "update update download download" ] || fail "it asked for $(xargs <asked)"
echo "debian_test: ok"
