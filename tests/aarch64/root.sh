#!/usr/bin/env bash
# Makes a root directory with the libraries of Debian or Ubuntu for another architecture, of the release
# that this machine runs: what tools/cmake/cross.cmake builds against. Nothing of it is run, and no
# package of this machine is touched.
#
#   tests/aarch64/root.sh build/aarch64-root [arm64]
set -euo pipefail
root=$1 architecture=${2:-arm64}
[ ! -e "$root/usr/include" ] || exit 0

# Headers and libraries, not the programs that build.
packages=$("$(dirname "$0")/../../tools/install-deps.sh" list | grep -E -- '-dev$|^fonts-' | paste -sd,)
. /etc/os-release
rm -rf "$root.partial"
mkdir -p "$(dirname "$root")"
mmdebstrap --variant=extract --architectures="$architecture" --include="libc6-dev,$packages" \
  "$VERSION_CODENAME" "$root.partial"

# Links to /lib/… mean this root's.
find "$root.partial" -xtype l -lname '/*' -print0 | while IFS= read -r -d '' link; do
  target=$root.partial$(readlink "$link")
  [ ! -e "$target" ] || ln -sfr "$target" "$link"
done
# OpenBLAS is installed through alternatives, which no script has set up.
for library in "$root.partial"/usr/lib/*/openblas-pthread; do
  ln -sfr "$library"/libopenblas* "$(dirname "$library")"
  ln -sfr "$library/pkgconfig/openblas.pc" "$(dirname "$library")/pkgconfig"
done
mv "$root.partial" "$root"
