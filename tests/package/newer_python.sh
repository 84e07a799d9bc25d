#!/usr/bin/env bash
# Builds the CPython of Debian 13 by the wheels' compiler, for systems whose own is older than 3.10:
#   newer_python.sh        into build/wheel-x86_64-linux-gnu/python, which can be copied to /opt/python
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/wheel/libraries.sh x86_64-linux-gnu
set -- x86_64-linux-gnu
. tools/wheel/debian.sh
[ ! -e "$root/python/opt/python/bin/python3.13" ] || exit 0
log=$root/logs/python
rm -rf "$root/sources/python" "$root/python"
mkdir -p "$root/sources/python"
cd "$root/sources/python"
{
  debian trixie source python3.13
  cd python3.13-*/
  PKG_CONFIG_LIBDIR=$root/prefix/lib/pkgconfig CC="$root/bin/$triple-gcc" ./configure --prefix=/opt/python \
    --with-ensurepip=no --disable-test-modules
  make -j"$(nproc)"
  make DESTDIR="$root/python" altinstall
} >"$log" 2>&1 || { tail -n 20 "$log" >&2; exit 1; }
ln -sf python3.13 "$root/python/opt/python/bin/python3"
rm -rf "$root/sources/python"
