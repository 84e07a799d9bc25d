#!/usr/bin/env bash
# Installs the wheels of build/wheels in roots of other systems, with the Python there, and uses them: README's
# example of a loader, the command line, every test of the package, and a training where feedrate-cpu is.
#
#   roots.sh [WHEELS_DIRECTORY [ROOT…]]     roots: debian11 debian12 debian12-arm64, all unless named, and
#                                           debian11-free-threaded, for a wheel of cp313t
#
# Prints a line for each root and wheel: the seconds that installing and testing took, and the size. What
# feedrate-cpu trains has the losses of build/release/feedrate, but for rounding (losses.py).
# mmdebstrap makes the roots, once, in build/roots: they hold Debian's Python, what it needs, and libstdc++,
# which manylinux takes for granted and oneDNN needs. Debian 11's Python is too old, so it gets that of
# newer_python.sh, with a GIL or without. QEMU runs ARM's, and the program as on a processor below x86-64-v2
# and on one without AVX2, which must load the same batches. Exits with 77 where it cannot: not root, no
# mmdebstrap, no mirror.
set -euo pipefail
source=$(realpath "$(dirname "$0")/../..")
wheels=$(realpath "${1:-$source/build/wheels}")
shift $(($# > 0))
[ $# -gt 0 ] || set -- debian11 debian12 debian12-arm64
. "$source/tests/support/empty_root.sh"
roots=$source/build/roots
work=$(mktemp -d)
root=$work/none
formats=/proc/sys/fs/binfmt_misc registered=no
leave() {
  [ $registered = no ] || echo -1 >$formats/qemu-aarch64
  leave_root "$root" && rm -rf --one-file-system "$work"
}
trap leave EXIT
skip() { echo "roots: skipped: $*" >&2; exit 77; }
fail() { echo "roots: $*" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || skip "chroot needs root"
command -v mmdebstrap >/dev/null || skip "no mmdebstrap (tools/install-deps.sh aarch64)"

# The kernel starts ARM's programs by QEMU, here and in a root, while this runs.
emulate_arm() {
  command -v qemu-aarch64-static >/dev/null || skip "no qemu-aarch64-static (tools/install-deps.sh aarch64)"
  [ -e $formats/register ] || mount -t binfmt_misc binfmt_misc $formats || skip "no binfmt_misc"
  [ -e $formats/qemu-aarch64 ] && return
  cat /usr/lib/binfmt.d/qemu-aarch64.conf >$formats/register || skip "no binfmt_misc"
  registered=yes
}

make_root() { # NAME: leaves its path in $made
  local name=$1 suite=bookworm architecture=amd64
  made=$roots/$name
  case $name in
    debian11 | debian11-free-threaded) suite=bullseye ;;
    debian12) ;;
    debian12-arm64) architecture=arm64; emulate_arm ;;
    *) fail "no root '$name'; debian11, debian11-free-threaded, debian12 and debian12-arm64 are" ;;
  esac
  [ ! -e "$made/bin/sh" ] || return 0
  mkdir -p "$roots"
  rm -rf --one-file-system "$made.partial"
  mmdebstrap --variant=essential --skip=check/qemu --architectures=$architecture --include=python3,libstdc++6 $suite "$made.partial" \
    >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; skip "mmdebstrap failed"; }
  mv "$made.partial" "$made"
}

here() {
  chroot "$root" /usr/bin/env -i "PATH=/env/bin:$paths" HOME=/tmp \
    FEEDRATE_EMULATED=$([ "$processor" = x86_64 ] && echo 0 || echo 1) "$@"
}

# use NAME WHEEL…: installs the wheels and tests them; one line.
use() {
  local name=$1 seconds=$SECONDS log=$work/$1.log wheel
  shift
  rm -rf --one-file-system "$root/env" "$root/use" && mkdir -p "$root/use/wheels"
  cp "$@" "$pip" "$root/use/wheels"
  cp -r "$source/tests/python" "$root/use/tests"
  readme_example "$source" >"$root/use/example.py"
  [ "$processor" != x86_64 ] || cp "$(command -v qemu-x86_64-static)" "$root/use/qemu" || skip "no qemu-x86_64-static"
  here python3 -m venv --without-pip /env
  here python "/use/wheels/$(basename "$pip")/pip" install --disable-pip-version-check -q --no-index \
    $(printf '/use/wheels/%s ' "${@##*/}")
  local installed=$((SECONDS - seconds))
  cat >"$root/use/all.sh" <<'A'
set -eu
cd /use
feedrate --version
feedrate synth mnist --images 640 --out archives
feedrate convert mnist archives --to lmdb --split all --out data/lmdb
feedrate verify data/lmdb/train
python example.py
if [ "$1" = train ]; then
  feedrate train data/lmdb/train --network lenet --steps 5
  feedrate convert mnist archives --to lmdb --out mnist
  feedrate synth cifar10 --images 160 --out cifar-archives
  feedrate convert cifar10 cifar-archives --to lmdb --out cifar10
elif [ -e qemu ]; then
  feedrate synth imagenet --images 16 --out imagenet
  feedrate convert imagenet imagenet/ILSVRC2012_img_train.tar --to recordio --out photographs
  program=$(python -c 'from feedrate._program import program; print(program())')
  digest() { "$@" load photographs --recipe imagenet-train --threads 1 --json | grep '"digest"'; }
  expected=$(digest "$program")
  for processor in core2duo SandyBridge; do # below x86-64-v2; without AVX2
    ./qemu -cpu $processor "$(command -v python)" -c 'import feedrate; print(feedrate.__version__)'
    [ "$(digest ./qemu -cpu $processor "$program")" = "$expected" ]
  done
fi
if [ "$1" != train ]; then
  python -W ignore::DeprecationWarning -m unittest discover -s tests -p '*_test.py'
fi
A
  local what=tests
  [[ "$*" != *feedrate_cpu* ]] || what=train
  here sh /use/all.sh $what >"$log" 2>&1 || { tail -n 40 "$log" >&2; fail "$name: $* does not work"; }
  if [ $what = train ] && [ -x "$source/build/release/feedrate" ]; then
    (cd "$root/use" && "$source/tests/package/losses.py" "$source/build/release/feedrate" \
      "chroot '$root' /usr/bin/env -i -C /use PATH=/env/bin:$paths HOME=/tmp feedrate") ||
      fail "$name: $* does not train as build/release/feedrate does"
  elif [ $what = train ]; then
    echo "roots: losses are not compared: there is no build/release/feedrate" >&2
  fi
  for wheel in "$@"; do
    [ $what = tests ] || [[ $wheel == *feedrate_cpu* ]] || continue
    printf '%-15s %-12s %-58s %9d bytes  installed in %d s, used in %d s%s\n' "$name" "$version" "${wheel##*/}" \
      "$(stat -c %s "$wheel")" "$installed" $((SECONDS - seconds - installed)) \
      "$(sed -n 's/^Ran \([0-9]* tests\).*/, \1/p' "$log")"
  done
}

pip=$(python3 -m pip download --disable-pip-version-check -q --no-deps -d "$work" pip && echo "$work"/pip-*.whl) ||
  skip "no pip to install with"
for name in "$@"; do
  make_root "$name"
  root=$made paths=/usr/bin:/bin
  if [[ $name == debian11* ]]; then
    kind=${name#debian11}
    "$source/tests/package/newer_python.sh" ${kind:+"${kind#-}"}
    mkdir -p "$root/opt" && cp -a "$source/build/wheel-x86_64-linux-gnu/python$kind/opt/python" "$root/opt"
    paths=/opt/python/bin:$paths
  fi
  mountpoint -q "$root/proc" || mount -t proc proc "$root/proc" || skip "/proc cannot be mounted"
  version=$(chroot "$root" /usr/bin/env -i PATH="$paths" python3 -c \
    'import sys; print("Python %d.%d" % sys.version_info[:2] + sys.abiflags)')
  tag=cp${version#Python }
  tag=${tag/./} processor=x86_64
  [[ $name != *arm64 ]] || processor=aarch64
  found=no
  for kind in "${tag%t}-$tag" cp312-abi3; do # what pip would choose, and every other that it takes
    [ "$kind" != cp312-abi3 ] || { [[ $tag != *t ]] && [ "${tag#cp}" -ge 312 ]; } || continue
    for wheel in "$wheels"/feedrate-*-"$kind"-manylinux*_"$processor".whl; do
      [ -e "$wheel" ] || continue
      found=$wheel
      use "$name" "$wheel"
    done
  done
  [ "$found" != no ] || fail "$wheels has no wheel of feedrate for $version on $processor"
  for wheel in "$wheels"/feedrate_cpu-*_"$processor".whl; do
    [ ! -e "$wheel" ] || use "$name" "$found" "$wheel"
  done
  leave_root "$root"
done
echo "roots: ok"
