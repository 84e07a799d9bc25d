#!/usr/bin/env bash
# Asks losses.py about a program and itself, and about one that trains a little otherwise.
#   losses_test.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
losses=$(realpath "$(dirname "$0")")/losses.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "losses_test: $*" >&2; exit 1; }
"$program" synth mnist --images 640 --out mnist-archives >/dev/null 2>&1
"$program" synth cifar10 --images 160 --out cifar10-archives >/dev/null 2>&1
for name in mnist cifar10; do "$program" convert $name $name-archives --to lmdb --out $name >/dev/null; done

"$losses" "$program" "$program"
# A learning rate that is off by a thousandth is no rounding.
other="sh -c 'exec $program \"\$@\" --lr 0.01001' sh"
for how in '' --same-bits; do
  ! said=$("$losses" "$program" "$other" $how 2>&1) || fail "another learning rate went unnoticed $how: $said"
  [[ $said == *"FAILED: lenet"* ]] || fail "$said"
done
! said=$("$losses" "$program" "$program --no-such-option" 2>&1) || fail "a program that fails went unnoticed"
[[ $said == *"no-such-option"* ]] || fail "$said"
echo "losses_test: ok"
