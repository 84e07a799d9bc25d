#!/usr/bin/env bash
# Installs, builds and runs every test: tests/run.sh [ctest arguments, such as -L hostile or -R lmdb]
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install-deps.sh tests
tools/build.sh -DFEEDRATE_WERROR="${FEEDRATE_WERROR:-OFF}" -DFEEDRATE_TESTS=ON
ctest --preset release --parallel "$(nproc)" "$@"
