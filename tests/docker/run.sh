#!/usr/bin/env bash
# Runs the steps of samples/docker/Dockerfile without Docker, in a fresh Debian made by debootstrap.
#   run.sh BUILD_DIRECTORY SOURCE_DIRECTORY            the second stage, with this build's package
#   run.sh BUILD_DIRECTORY SOURCE_DIRECTORY --build    the first stage too: builds it there
# Exits with 77 where it cannot: not root, no debootstrap, or no mirror in reach.
set -euo pipefail
build=$1
source=$2
whole=${3:-}
work=$(mktemp -d)
root=$work/root
leave() {
  umount "$root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap leave EXIT

skip() { echo "docker: skipped: $*" >&2; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "chroot needs root"
command -v debootstrap >/dev/null || skip "no debootstrap"
command -v cpack >/dev/null && command -v dpkg-shlibdeps >/dev/null || skip "no Debian package can be made"

# The RUN lines of stage $1 (1 or 2), one after the other.
steps_of_stage() {
  awk -v stage="$1" '/^FROM / {n++} n == stage && /^RUN / {sub(/^RUN /, ""); print}' \
    "$source/samples/docker/Dockerfile"
}
make_root() {
  local release
  release=$(awk '/^FROM debian:/ {split($2, part, ":"); print part[2]; exit}' \
    "$source/samples/docker/Dockerfile")
  [ "$release" = 12 ] || { echo "docker: which release is debian:$release?" >&2; exit 1; }
  rm -rf "$root"
  debootstrap --variant=minbase bookworm "$root" >"$work/log" 2>&1 ||
    skip "debootstrap failed: $(tail -n 1 "$work/log")"
  if [ -d /etc/apt/apt.conf.d ]; then cp -r /etc/apt/apt.conf.d "$root/etc/apt/"; fi # a proxy
  mount -t proc proc "$root/proc" 2>/dev/null || true
}
run_stage() { # stage number, directory to run in
  while read -r step; do
    echo "== RUN $step"
    chroot "$root" env DEBIAN_FRONTEND=noninteractive bash -euc "cd '$2' && $step" >"$work/log" 2>&1 || {
      grep -qE 'Temporary failure resolving|Could not connect|Failed to fetch' "$work/log" &&
        skip "no mirror in reach: $(grep -E '^(E|Err)' "$work/log" | tail -n 1)"
      tail -n 40 "$work/log" >&2
      exit 1
    }
  done < <(steps_of_stage "$1")
}

make_root
if [ "$whole" = --build ]; then
  git clone -q "$source" "$root/src"
  run_stage 1 /src
  cp -r "$root/packages" "$work/"
  umount "$root/proc" 2>/dev/null || true
  make_root
else
  cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/packages" >"$work/log" 2>&1 ||
    { tail -n 40 "$work/log" >&2; exit 1; }
fi
mkdir "$root/packages"
cp "$work"/packages/*.deb "$root/packages/"
run_stage 2 /

echo "== the entry point, in the working directory"
[ "$(grep -c '^ENTRYPOINT \["feedrate"\]$' "$source/samples/docker/Dockerfile")" -eq 1 ]
mkdir -p "$root/work"
chroot "$root" sh -euc 'cd /work
  feedrate synth mnist --images 300 --out archives
  feedrate convert mnist archives --to lmdb --out data
  feedrate verify data'
