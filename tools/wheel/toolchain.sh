#!/usr/bin/env bash
# Makes build/wheel-TRIPLE/bin/TRIPLE-gcc and TRIPLE-g++, whose programs run on glibc 2.28 and newer:
#
#   tools/wheel/toolchain.sh [x86_64-linux-gnu | aarch64-linux-gnu]
#
# They are Debian 12's GCC 12 (g++-12, or g++-12-aarch64-linux-gnu) with the glibc of Debian 11, made to link
# like 2.28, and GCC 12's own libstdc++, which is linked into each program. libgcc_s is every system's, as
# exceptions have to pass from plug-ins to the program.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/wheel/debian.sh
glibc=2.28
scripts=(tools/wheel/{toolchain.sh,older_glibc.py,newer_glibc.c})
command -v "$triple-g++-12" >/dev/null || { echo "toolchain: there is no $triple-g++-12; install it" >&2; exit 1; }
if [ -e "$root/toolchain-made" ] && sha256sum --status -c "$root/toolchain-made"; then exit 0; fi

echo "== $triple: a compiler for glibc $glibc"
sysroot=$root/sysroot
rm -rf "$sysroot" "$root/debs" "$root/bin"
mkdir -p "$root/debs" "$root/bin"
(
  cd "$root/debs"
  debian bullseye download libc6 libc6-dev linux-libc-dev libgcc-s1 libgomp1 gcc-10-base
  debian bookworm download libstdc++-12-dev gcc-12-base
) >"$root/toolchain.log" 2>&1 || { cat "$root/toolchain.log" >&2; exit 1; }
for package in "$root"/debs/*.deb; do
  dpkg-deb -x "$package" "$sysroot"
done
libraries=$sysroot/usr/lib/$triple
find "$sysroot" -type l -lname '/*' | while read -r link; do # they were meant for a root
  ln -sfr "$sysroot$(readlink "$link")" "$link"
done
ln -s libgomp.so.1 "$libraries/libgomp.so" # the older one serves: it has all that this GCC calls
mapfile -t shared < <(find "$sysroot/lib/$triple" -type f -name '*.so*')
python3 tools/wheel/older_glibc.py $glibc "${shared[@]}"

# libstdc++'s headers were configured for Debian 12's glibc.
newer='USE_PTHREAD_(COND_CLOCKWAIT|MUTEX_CLOCKLOCK|RWLOCK_CLOCKLOCK)|HAVE_ARC4RANDOM'
sed -i -E "s,^#define (_GLIBCXX_($newer)) .*,/* \1: not in glibc $glibc */," \
  "$sysroot/usr/include/$triple/c++/12/bits/c++config.h"

headers="-nostdinc++ -isystem $sysroot/usr/include/c++/12 -isystem $sysroot/usr/include/$triple/c++/12"
plain=
if [ "$triple" != "$(gcc -dumpmachine)" ]; then
  # A cross-compiler has headers of its own system, which it would look into before those of the root.
  plain="-nostdinc -isystem $("$triple-gcc-12" -print-file-name=include)"
  plain+=" -isystem $sysroot/usr/include/$triple -isystem $sysroot/usr/include"
fi
for language in gcc g++; do
  compiler=$root/bin/$triple-$language
  # Before its own libraries, GCC looks into this system's; -B is looked into first.
  cat >"$compiler" <<S
#!/bin/sh
unset LIBRARY_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH
exec $(command -v "$triple-$language-12") --sysroot=$sysroot -B$libraries -B$sysroot/lib/$triple \\
  $([ $language = gcc ] || echo "$headers -static-libstdc++") $plain "\$@"
S
  chmod +x "$compiler"
done
"$root/bin/$triple-gcc" -O2 -fPIC -c -o "$root/newer_glibc.o" tools/wheel/newer_glibc.c
"$triple-ar" r "$libraries/libc_nonshared.a" "$root/newer_glibc.o"
# Licences of what is linked in, and of libgomp, which the trainer carries.
mkdir -p "$root"/{prefix,trainer}/share/doc
cp -r "$sysroot/usr/share/doc/gcc-12-base" "$root/prefix/share/doc"
cp -r "$sysroot/usr/share/doc/gcc-10-base" "$root/trainer/share/doc"
sha256sum "${scripts[@]}" >"$root/toolchain-made"
