#!/usr/bin/env bash
# A bundle of samples/gpu_check.sh, run up to the point where a GPU is needed: in a root that holds nothing
# but glibc, a shell and Python, without CUDA's libraries, with them, and with the toolkit's stub driver.
#   run.sh BUILD_DIRECTORY SOURCE_DIRECTORY
# Exits with 77 where no such root can be made.
set -euo pipefail
build=$1
source=$2
work=$(mktemp -d)
root=$work/root
leave() {
  local place
  for place in "$root/wheels/nvidia/cuda/lib" "$root/proc"; do
    umount "$place" 2>/dev/null || true
    ! mountpoint -q "$place" || { echo "gpu_check: $place is still mounted; left as it is" >&2; return; }
  done
  rm -rf --one-file-system "$work"
}
trap leave EXIT
fail() { echo "gpu_check: $*" >&2; exit 1; }
skip() { echo "gpu_check: skipped: $*" >&2; exit 77; }

echo "== the bundle"
FEEDRATE_BUILD=$build "$source/samples/gpu_check.sh" --pack "$work/bundle.tar.xz" --fast

[ "$(id -u)" -eq 0 ] || skip "chroot needs root"
libraries=$(ldd "$build/libfeedrate_cuda.so" | awk '/libcublasLt/ {print $3}')
[ -f "$libraries" ] || skip "the toolkit's libraries are not on the plug-in's path"
libraries=$(dirname "$libraries")

with_libraries() { # copies programs and the libraries that they load
  local file
  { printf '%s\n' "$@"; ldd "$@" | awk '$2 == "=>" {print $3} $1 ~ /^\/lib.*ld-linux/ {print $1}'; } |
    sort -u | while read -r file; do
      mkdir -p "$root$(dirname "$file")"
      cp -L "$file" "$root$file"
    done
}
mkdir -p "$root/"{proc,tmp,bin,dev,usr/lib,wheels/nvidia/cuda/lib}
: >"$root/dev/null"
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
stdlib=$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
mkdir -p "$root$stdlib"
tar -C "$stdlib" --exclude=test --exclude=site-packages --exclude=dist-packages --exclude='__pycache__' \
  -cf - . | tar -C "$root$stdlib" -xf -
shell=$(command -v bash)
mapfile -t programs < <(for name in env dirname rm; do command -v "$name"; done)
# Not those that bring many libraries of their own.
mapfile -t modules < <(find "$stdlib/lib-dynload" -name '*.so' ! -name '_tkinter*' ! -name '_curses*' \
  ! -name '_ssl*' ! -name '_hashlib*' ! -name 'nis*' ! -name '*dbm*' ! -name 'readline*' ! -name '_ctypes*')
with_libraries "$shell" "${programs[@]}" "$python" "${modules[@]}"
libc=$(ldd "$shell" | awk '$1 == "libc.so.6" {print $3}')
for name in m dl rt pthread resolv util mvec; do cp -L "${libc%/*}/lib$name".so.* "$root${libc%/*}"; done
ln -sf "$python" "$root/bin/python3"
mount -t proc proc "$root/proc" 2>/dev/null || skip "/proc cannot be mounted in the new root"
mv "$work/bundle.tar.xz" "$root/"
cp "$source/samples/gpu_check.sh" "$root/"

# Runs a check that must end with 1 and with the words $2.
ends_with() {
  local what=$1 words=$2 code=0
  shift 2
  echo "== $what"
  chroot "$root" "$(command -v env)" -i PATH="/bin:/usr/bin:$(dirname "$shell")" PYTHONPATH=/wheels \
    "$shell" "$@" --minutes 1 --out /results >"$work/said" 2>&1 || code=$?
  [ "$code" -eq 1 ] || fail "the exit code is $code"
  grep -q "^gpu_check: no GPU can be used here: .*$words" "$work/said" || {
    cat "$work/said"
    fail "expected: $words"
  }
  grep "^gpu_check:" "$work/said"
}
unpacked=/bundle.unpacked/gpu_check.sh
ends_with "without CUDA's libraries" 'libcudnn.so.9: .*nvidia-\* wheels' \
  /gpu_check.sh --unpack-and-run /bundle.tar.xz
mount --bind -o ro "$libraries" "$root/wheels/nvidia/cuda/lib" || skip "nothing can be mounted in the new root"
ends_with "with the wheels of PyTorch" 'no NVIDIA driver was found' $unpacked

stub=$libraries/stubs/libcuda.so
if [ -f "$stub" ]; then
  cp "$stub" "$root/usr/lib/libcuda.so.1"
  ends_with "with a stub driver" 'stub library' $unpacked
fi

echo "== a test that expects a GPU fails where there is none; otherwise it is skipped"
tests() {
  chroot "$root" "$(command -v env)" -i "$@" FEEDRATE_SOURCE=/bundle.unpacked \
    LD_LIBRARY_PATH=/bundle.unpacked/lib:/wheels/nvidia/cuda/lib \
    /bundle.unpacked/tests/test_trainer --gtest_filter=Cuda/CudaParity.dense_alone/real
}
tests >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
grep -q 'SKIPPED' "$work/said" || fail "it was not skipped"
! tests FEEDRATE_EXPECT_GPU=1 >"$work/said" 2>&1 || fail "it passed"
grep -q 'FAILED' "$work/said" || { cat "$work/said"; fail "it did not even run"; }
echo "gpu_check: ok"
