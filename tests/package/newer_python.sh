#!/usr/bin/env bash
# Builds the CPython 3.13 of Debian 13 by the wheels' compiler, for systems whose own is older than 3.10; or a
# free-threaded one, which Debian does not have:
#   newer_python.sh [free-threaded]     into build/wheel-x86_64-linux-gnu/python[-free-threaded], whose opt/python
#                                       can be copied to /opt, or used where it is: opt/python/bin/python3
# It is the authors' source: by Debian's patches a free-threaded environment does not find its own packages.
set -euo pipefail
cd "$(dirname "$0")/../.."
options=() kind=python name=python3.13
case "$*" in
  '') ;;
  free-threaded) options=(--disable-gil) kind=python-free-threaded name=python3.13t ;;
  *) echo "newer_python: no kind '$*'; free-threaded is one" >&2; exit 2 ;;
esac
tools/wheel/libraries.sh x86_64-linux-gnu
set -- x86_64-linux-gnu
. tools/wheel/debian.sh
[ ! -e "$root/$kind/opt/python/bin/$name" ] || exit 0
log=$root/logs/$kind
rm -rf "$root/sources/$kind" "${root:?}/$kind"
mkdir -p "$root/sources/$kind"
cd "$root/sources/$kind"
{
  debian trixie source --download-only python3.13
  tar -xf python3.13_*.orig.tar.xz --strip-components=1
  PKG_CONFIG_LIBDIR=$root/prefix/lib/pkgconfig CC="$root/bin/$triple-gcc" ./configure --prefix=/opt/python \
    --with-ensurepip=no --disable-test-modules "${options[@]}"
  make -j"$(nproc)"
  make DESTDIR="$root/$kind" altinstall
} >"$log" 2>&1 || { tail -n 20 "$log" >&2; exit 1; }
ln -sf $name "$root/$kind/opt/python/bin/python3"
rm -rf "$root/sources/$kind"
