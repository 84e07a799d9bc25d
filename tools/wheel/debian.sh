# Sourced by the scripts beside it: packages of Debian by an apt of its own, which leaves the system's alone.

mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
triple=${1:-x86_64-linux-gnu}
case $triple in
  x86_64-linux-gnu) architecture=amd64 ;;
  aarch64-linux-gnu) architecture=arm64 ;;
  *) echo "$(basename "$0"): no target '$triple'; x86_64-linux-gnu and aarch64-linux-gnu are" >&2; exit 2 ;;
esac
root=$PWD/build/wheel-$triple # everything that is made for the target

# debian SUITE WORD…: apt-get WORD… on that suite, for the target, in the current directory.
debian() {
  local suite=$1 own=$root/apt/$1
  shift
  local apt=(apt-get -q -o "Dir::State=$own/state" -o "Dir::State::status=$own/status" -o "Dir::Cache=$own/cache"
    -o "Dir::Etc::sourcelist=$own/sources.list" -o Dir::Etc::sourceparts=- -o "APT::Architecture=$architecture"
    -o "APT::Architectures=$architecture" -o APT::Sandbox::User=root -o Acquire::Retries=3)
  if [ ! -e "$own/updated" ]; then
    mkdir -p "$own/state/lists/partial" "$own/cache/archives/partial"
    : >"$own/status"
    local signed="signed-by=/usr/share/keyrings/debian-archive-keyring.gpg"
    printf '%s\n' "deb [$signed] $mirror $suite main" "deb-src [$signed] $mirror $suite main" >"$own/sources.list"
    "${apt[@]}" -o APT::Update::Error-Mode=any update || return # lists that are not whole are no lists
    touch "$own/updated"
  fi
  "${apt[@]}" "$@"
}
