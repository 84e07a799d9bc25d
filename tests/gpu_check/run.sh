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
. "$source/tests/support/empty_root.sh"
leave() {
  leave_root "$root" "$root/wheels/nvidia/cuda/lib" && rm -rf --one-file-system "$work"
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

empty_root "$root" python3 env dirname rm || skip "/proc cannot be mounted in the new root"
mkdir -p "$root/wheels/nvidia/cuda/lib"
shell=$(command -v bash)
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
