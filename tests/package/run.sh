#!/usr/bin/env bash
# The packages: what `cmake --install` leaves is found by find_package and holds nothing of others;
# with the component `carried` the program runs where it was moved to; the Debian package can be
# installed and removed.   run.sh BUILD_DIRECTORY SOURCE_DIRECTORY
set -euo pipefail
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

quietly() { # what a step prints matters only when it fails
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}
fail() { echo "package: $*" >&2; exit 1; }

echo "== cmake --install"
quietly cmake --install "$build" --prefix "$work/first"
foreign=$(find "$work/first" -name '*.so*' ! -name 'libfeedrate*')
[ -z "$foreign" ] || fail "the installation holds libraries of other projects: $foreign"
headers=$(find "$work/first/include" -type f | wc -l)
[ "$headers" -le 60 ] || fail "$headers public headers; at most 60 are wanted"
for file in man/man1/feedrate.1 man/man1/feedrate-convert.1 bash-completion/completions/feedrate \
  zsh/vendor-completions/_feedrate fish/vendor_completions.d/feedrate.fish; do
  [ -s "$work/first/share/$file" ] || fail "share/$file is missing"
done
mv "$work/first" "$work/moved"
quietly grep -q '"additionalProperties"' "$work/moved/share/feedrate/schema.json"
quietly grep -q '^| `images_per_second` |' "$work/moved/share/doc/Feedrate/JSON.md"

echo "== every public header compiles by itself"
cd "$work/moved/include/feedrate"
find . -name '*.h' | sed 's,^\./,#include ",; s,$,",' >"$work/headers"
while read -r line; do
  echo "$line" >"$work/alone.cpp"
  quietly c++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I. "$work/alone.cpp"
done <"$work/headers"
cd "$source"

echo "== the sample programs use the installation"
quietly cmake -S "$source/samples/programs" -B "$work/programs" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/moved"
quietly cmake --build "$work/programs"
feedrate=$work/moved/bin/feedrate
quietly "$feedrate" synth mnist --images 640 --out "$work/archives"
for format in folder lmdb; do
  quietly "$feedrate" convert mnist "$work/archives" --to $format --split all --out "$work/$format"
done
said=$("$work/programs/convert_folder" "$work/folder/train" "$work/recordio")
case $said in "640 images, "*" bytes") ;; *) fail "convert_folder said: $said" ;; esac
quietly "$feedrate" verify "$work/recordio" --against "$work/folder/train"
said=$("$work/programs/iterate_loader" "$work/recordio")
case $said in "40 batches"*) ;; *) fail "iterate_loader said: $said" ;; esac
said=$("$work/programs/iterate_in_c" "$work/recordio")
case $said in "40 batches, mean "[1-9]*) ;; *) fail "iterate_in_c said: $said" ;; esac
said=$("$work/programs/train_lenet" "$work/lmdb/train" "$work/lmdb/test")
case $said in "10 steps, "*" accuracy 0."*) ;; *) fail "train_lenet said: $said" ;; esac

echo "== with what it carries, the program needs nothing but glibc"
quietly cmake --install "$build" --prefix "$work/carried"
quietly cmake --install "$build" --prefix "$work/carried" --component carried
mv "$work/carried" "$work/elsewhere"
env -i PATH=/usr/bin:/bin "$work/elsewhere/bin/feedrate" --version
strangers=$(env -i /usr/bin/ldd "$work/elsewhere/bin/feedrate" "$work/elsewhere/lib"*/libfeedrate_cpu.so |
  awk '$3 ~ /^\// && index($3, "'"$work"'") != 1 {print $1}' |
  grep -vE '^lib(c|m|dl|rt|pthread|resolv|util|mvec)\.so' || true)
[ -z "$strangers" ] || fail "taken from this system, not from the package: $strangers"

if ! command -v dpkg-shlibdeps >/dev/null; then
  echo "== no Debian package: dpkg-shlibdeps is not here"
  exit 0
fi
for package in nlohmann-json3-dev liblmdb0 zlib1g libfreetype6; do # where the licences are to be had
  [ -s "$work/elsewhere/share/doc/Feedrate/licenses/$package" ] ||
    fail "the licence of $package is missing"
done

echo "== the Debian packages are installed and removed, in a root and a database of its own"
quietly cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/deb"
package=$(echo "$work"/deb/feedrate_*.deb)
trainer=$(echo "$work"/deb/feedrate-cpu_*.deb)
depends=$(dpkg-deb -f "$package" Depends)
for library in libc6 liblmdb0 libarchive13; do
  case $depends in *"$library"*) ;; *) fail "the package does not depend on $library: $depends" ;; esac
done
case $depends in *dnnl* | *blas*) fail "the package depends on the trainer's libraries: $depends" ;; esac
trains=$(dpkg-deb -f "$trainer" Depends)
for library in "feedrate (= " libdnnl libopenblas0; do
  case $trains in *"$library"*) ;; *) fail "feedrate-cpu does not depend on $library: $trains" ;; esac
done
database=$work/root/var/lib/dpkg
mkdir -p "$database/"{info,updates,triggers}
cp /var/lib/dpkg/status "$database/status"
: >"$database/available"
dpkg=(dpkg --force-not-root --force-script-chrootless --root="$work/root" --log="$work/dpkg.log")
quietly "${dpkg[@]}" --install "$package"
"$work/root/usr/bin/feedrate" --version | head -n 1
train() { "$work/root/usr/bin/feedrate" train "$work/lmdb/train" --network lenet --steps 2 2>&1; }
! said=$(train) || fail "it trained without feedrate-cpu: $said"
case $said in *"the package feedrate-cpu brings it"*) ;; *) fail "without feedrate-cpu it said: $said" ;; esac
quietly "${dpkg[@]}" --install "$trainer"
quietly train
[ -s "$work/root/usr/share/man/man1/feedrate-train.1" ] || fail "the Debian package has no manual pages"
[ -s "$work/root/usr/share/bash-completion/completions/feedrate" ] ||
  fail "the Debian package does not complete commands in bash"
quietly "${dpkg[@]}" --remove feedrate-cpu feedrate
left=$(find "$work/root/usr" -type f 2>/dev/null || true)
[ -z "$left" ] || fail "left behind by the removed package: $left"
echo "package: ok"
