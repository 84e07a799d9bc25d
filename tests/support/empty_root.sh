# Sourced by tests that run in a root of their own, which holds nothing but glibc, some programs and
# Python with the libraries of its modules: no compiler, and none that Feedrate alone needs.

# with_libraries ROOT FILE…: copies programs and the libraries that they load, to the same paths.
with_libraries() {
  local root=$1 file
  shift
  { printf '%s\n' "$@"; ldd "$@" | awk '$2 == "=>" {print $3} $1 ~ /^\/lib.*ld-linux/ {print $1}'; } |
    sort -u | while read -r file; do
      mkdir -p "$root$(dirname "$file")"
      cp -L "$file" "$root$file"
    done
}

# empty_root ROOT PYTHON PROGRAM…: makes it. Fails where /proc cannot be mounted; leave_root unmounts it.
empty_root() {
  local root=$1 called python stdlib shell libc name modules programs
  called=$("$2" -c 'import sys; print(sys.executable)')
  python=$("$2" -c 'import os, sys; print(os.path.realpath(sys.executable))')
  stdlib=$("$2" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
  shift 2
  mkdir -p "$root/"{proc,tmp,bin,dev,usr/lib}
  : >"$root/dev/null"
  mkdir -p "$root$stdlib"
  tar -C "$stdlib" --exclude=test --exclude=site-packages --exclude=dist-packages \
    --exclude='__pycache__' --exclude='config-*' -cf - . | tar -C "$root$stdlib" -xf -
  shell=$(command -v bash)
  mapfile -t programs < <(for name in "$@"; do command -v "$name"; done)
  # Not those that bring many libraries of their own.
  mapfile -t modules < <(find "$stdlib/lib-dynload" -name '*.so' ! -name '_tkinter*' ! -name '_curses*' \
    ! -name '_ssl*' ! -name '_hashlib*' ! -name 'nis*' ! -name '*dbm*' ! -name 'readline*' ! -name '_ctypes*')
  with_libraries "$root" "$shell" "${programs[@]}" "$python" "${modules[@]}"
  libc=$(ldd "$shell" | awk '$1 == "libc.so.6" {print $3}')
  for name in m dl rt pthread resolv util mvec; do
    cp -L "${libc%/*}/lib$name".so.* "$root${libc%/*}"
  done
  [ -e "$root$called" ] || ln -s "$python" "$root$called" # where virtual environments look for it
  ln -sf "$python" "$root/bin/python3"
  mount -t proc proc "$root/proc" 2>/dev/null
}

# leave_root ROOT [MOUNTED…]: unmounts /proc and other places. Fails where one cannot be unmounted.
leave_root() {
  local place
  for place in "${@:2}" "$1/proc"; do
    umount "$place" 2>/dev/null || true
    ! mountpoint -q "$place" || { echo "$place is still mounted; left as it is" >&2; return 1; }
  done
}

# readme_example SOURCE: README's last Python example, which needs no other package.
readme_example() {
  echo "import feedrate"
  awk '/^```/ {inside = $0 == "```python"; if (inside) text = ""; next} inside {text = text $0 "\n"}
    END {printf "%s", text}' "$1/README.md"
}
