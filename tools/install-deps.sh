#!/usr/bin/env bash
# Installs what is needed to build and test Feedrate, on Debian 12 or Ubuntu 24.04 or newer.
# Fast when nothing is missing; safe to repeat.
#
#   tools/install-deps.sh            what the build needs
#   tools/install-deps.sh tests      and what tests use where available (a headless browser, …)
#   tools/install-deps.sh python     and what the Python package needs to be built (part of tests)
#   tools/install-deps.sh mpi        and Open MPI, for training by several processes
#   tools/install-deps.sh onednn     and oneDNN 3.2 into build/onednn, for -DFEEDRATE_ONEDNN=build/onednn
#   tools/install-deps.sh aarch64    and a cross-compiler and an emulator, for tests/aarch64/run.sh
#   tools/install-deps.sh wheel      and what tools/build_wheel.sh needs, which --target aarch64-linux-gnu does too
#   tools/install-deps.sh list       lists what the build needs and installs nothing
#   tools/install-deps.sh fuzz       and Clang with libFuzzer, for tests/fuzz/run.sh
#   tools/install-deps.sh samples    and the Fashion-MNIST archives that the quickstart converts
set -euo pipefail

build=(
  build-essential cmake ninja-build ccache pkg-config git ca-certificates
  liblmdb-dev libpng-dev libjpeg-dev libwebp-dev zlib1g-dev libisal-dev libxxhash-dev libarchive-dev
  libtbb-dev libfreetype-dev libfontconfig-dev fonts-dejavu-core
  libopenblas-dev libdnnl-dev
  libcli11-dev libfmt-dev nlohmann-json3-dev libpugixml-dev libspdlog-dev libssl-dev
  libcurl4-openssl-dev
  libgtest-dev libbenchmark-dev
)
declare -A optional=(
  [tests]="chromium debootstrap python3 python3-jsonschema xz-utils libopenmpi-dev openmpi-bin
           python3-dev python3-venv slurm-wlm munge"
  [python]="python3 python3-dev python3-venv"
  [mpi]="libopenmpi-dev openmpi-bin"
  [aarch64]="g++-aarch64-linux-gnu gcc-aarch64-linux-gnu qemu-user-static mmdebstrap"
  [wheel]="g++-12 g++-12-aarch64-linux-gnu qemu-user-static mmdebstrap nasm gperf dpkg-dev
           debian-archive-keyring python3-venv"
  [onednn]="python3 python3-venv"
  [samples]="dataset-fashion-mnist"
  [fuzz]="clang libclang-rt-dev python3"
)

if [ "$*" = list ]; then
  printf '%s\n' "${build[@]}"
  exit
fi

missing() { # the packages among "$@" that are not installed
  local package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || echo "$package"
  done
}

if ! command -v apt-get >/dev/null; then
  cat >&2 <<'EOF'
install-deps: this system has no apt. Install by hand, with headers:
  a C++20 compiler (GCC 12 or newer), CMake 3.25, Ninja, pkg-config
  LMDB  libpng  libjpeg-turbo  libwebp  zlib  ISA-L  xxHash  libarchive  oneTBB
  FreeType  fontconfig  a sans-serif font, such as DejaVu Sans
  OpenBLAS  oneDNN 2.6 or 3 (OpenMP)  OpenSSL 3  libcurl  CLI11  fmt
  nlohmann-json  pugixml  spdlog  GoogleTest  Google Benchmark
and, for the CUDA backend, the CUDA toolkit 12 or newer with cuDNN 9;
for training by several processes, an MPI 3 (Open MPI, MPICH);
for the Python package, Python 3.10 or newer with headers, and nanobind 3.1.
EOF
  exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
updated=no
install() {
  if [ "$updated" = no ]; then
    "${as_root[@]}" apt-get update -q
    updated=yes
  fi
  echo "install-deps: installing $*" >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
}

mapfile -t wanted < <(missing "${build[@]}")
if [ ${#wanted[@]} -gt 0 ]; then
  if [ ${#as_root[@]} -gt 0 ] && ! command -v sudo >/dev/null; then
    echo "install-deps: this needs root or sudo; ask an administrator for: ${wanted[*]}" >&2
    exit 1
  fi
  install "${wanted[@]}"
fi

# Optional packages: one that cannot be installed is reported, and the callers do without it.
for group in "$@"; do
  if [ -z "${optional[$group]:-}" ]; then
    echo "install-deps: no group '$group'; the groups are ${!optional[*]}" >&2
    exit 2
  fi
  read -ra packages <<<"${optional[$group]}"
  for package in $(missing "${packages[@]}"); do
    install "$package" || echo "install-deps: $package could not be installed; going on without it" >&2
  done
done

# What comes from PyPI gets an environment of its own, where CMake looks for it.
root=$(dirname "$0")/..
from_pypi() { # directory, list of packages, what it is, what is done without it
  { python3 -m venv "$1" &&
    "$1/bin/pip" install --disable-pip-version-check -q --no-deps --require-hashes -r "$2"; } >&2 || {
    rm -rf "$1"
    echo "install-deps: $3 could not be installed; going on without $4" >&2
  }
}
case " $* " in *" tests "* | *" python "*)
  if ! "$root/build/python-tools/bin/python" -m nanobind --version >/dev/null 2>&1; then
    rm -rf "$root/build/python-tools"
    from_pypi "$root/build/python-tools" "$root/tools/bindings/python/nanobind.txt" nanobind \
      "the Python package"
  fi ;;
esac
case " $* " in *" onednn "*)
  if [ ! -e "$root/build/onednn/lib/libdnnl.so" ]; then
    rm -rf "$root/build/onednn"
    from_pypi "$root/build/onednn" "$root/tools/onednn.txt" "oneDNN 3.2" \
      "it: build with the system's, the default"
  fi ;;
esac
