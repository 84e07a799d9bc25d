#!/usr/bin/env bash
# Asks version_needs.py about small libraries whose needs are known, and older_glibc.py to make a small
# "glibc" of two versions link like the first.
set -euo pipefail
source=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "version_needs_test: $*" >&2; exit 1; }
needs() { python3 "$source/tests/package/version_needs.py" "$@"; }
refused() { # text expected, arguments
  local said
  ! said=$(needs "${@:2}" 2>&1) || fail "this was accepted: $said"
  [[ $said == *"$1"* ]] || fail "expected '$1', found: $said"
}

# A libc.so.6 with two versions of one function and a newer function.
cat >libc.c <<'C'
int old_value(void) { return 1; }
int new_value(void) { return 2; }
int newest(void) { return 3; }
__asm__(".symver old_value, value@GLIBC_2.2.5");
__asm__(".symver new_value, value@@GLIBC_2.29");
C
echo 'GLIBC_2.2.5 { global: value; local: *; }; GLIBC_2.29 { global: value; } GLIBC_2.2.5;
      GLIBC_2.31 { global: newest; } GLIBC_2.29;' >libc.map
cc -shared -fPIC -nostdlib -Wl,-soname,libc.so.6 -Wl,--version-script,libc.map -o libc.so.6 libc.c
echo 'int value(void); int call(void) { return value(); }' >call.c
library() { cc -shared -fPIC -nostdlib -Wl,-z,defs -o "$@" ./libc.so.6; }

library new.so call.c
needs new.so | grep -qx 'new.so: GLIBC 2.29; libc.so.6' || fail "$(needs new.so)"
refused "new.so needs GLIBC_2.29; at most 2.28 is expected" new.so --glibc 2.28
needs new.so --glibc 2.29 >/dev/null

python3 "$source/tools/wheel/older_glibc.py" 2.28 libc.so.6
library old.so call.c
needs old.so --glibc 2.28 | grep -qx 'old.so: GLIBC 2.2.5; libc.so.6' || fail "$(needs old.so)"
echo 'int newest(void); int call(void) { return newest(); }' >newest.c
! library newest.so newest.c 2>log || fail "what is newer than 2.28 was linked"
grep -q "undefined reference to .newest'" log || fail "$(cat log)"

echo '#include <stdexcept>
void call() { throw std::runtime_error("x"); }' >cxx.cpp
c++ -shared -fPIC -o cxx.so cxx.cpp
refused "of a libstdc++; none is expected" cxx.so --glibc 9.9
refused "needs libstdc++.so.6, which older systems lack" cxx.so --glibc 9.9
needs cxx.so --glibc 9.9 --glibcxx 3.4.99 >/dev/null
refused "at most 3.0 is expected" cxx.so --glibc 9.9 --glibcxx 3.0

# In a wheel, libraries may need what the wheel carries.
echo 'int carried(void) { return 1; }' >carried.c
cc -shared -fPIC -nostdlib -Wl,-soname,libcarried.so.1 -o libcarried.so.1 carried.c
cc -shared -fPIC -nostdlib -o user.so call.c ./libcarried.so.1 -Wl,--no-as-needed ./libcarried.so.1
refused "user.so needs libcarried.so.1, which older systems lack" user.so --glibc 2.28
python3 - <<'P'
import zipfile
for name, files in {"whole.whl": ["user.so", "libcarried.so.1"], "partly.whl": ["user.so"], "empty.whl": ["call.c"]}.items():
    with zipfile.ZipFile(name, "w") as wheel:
        for file in files:
            wheel.write(file, "package/" + file)
P
needs whole.whl --glibc 2.28 >/dev/null
refused "partly.whl: package/user.so needs libcarried.so.1" partly.whl --glibc 2.28
refused "found none" empty.whl --glibc 2.28
refused "expected a wheel, a program or a library" call.c
echo "version_needs: ok"
