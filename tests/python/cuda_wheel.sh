#!/usr/bin/env bash
# Installs the wheels of feedrate and feedrate-cuda into an empty virtual environment, where the plug-in
# finds CUDA's libraries in the nvidia-* wheels and says that there is no device. Those wheels are large,
# so where $NVIDIA_WHEELS names an installed directory `nvidia`, or the toolkit is here, its libraries
# stand in for them, in the wheels' places.
#   cuda_wheel.sh PYTHON WHEELS_DIRECTORY
set -euo pipefail
python=$1
wheels=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "cuda_wheel: $*" >&2; exit 1; }
alone=(env -i "PATH=$work/env/bin:/usr/bin:/bin" "HOME=$work")

"$python" -m venv "$work/env"
pip=("$work/env/bin/pip" install --disable-pip-version-check -q)
"${pip[@]}" --no-index --no-deps --find-links "$wheels" feedrate feedrate-cuda
says() { # the only line that `feedrate train --device cuda` prints, an error
  local said
  ! said=$("${alone[@]}" feedrate train "$work/data/train" --network lenet --device cuda 2>&1) ||
    fail "it trained without a device: $said"
  [ "$(wc -l <<<"$said")" -eq 1 ] || fail "expected one line, found: $said"
  echo "$said"
}
"${alone[@]}" feedrate synth mnist --images 640 --out "$work/archives" >/dev/null 2>&1
"${alone[@]}" feedrate convert mnist "$work/archives" --to lmdb --split all --out "$work/data" >/dev/null

if ! ldconfig -p | grep -qE 'libcu(dnn|blasLt)\.so'; then
  echo "== without CUDA's libraries"
  said=$(says)
  [[ $said == *libcudnn.so.9* || $said == *libcublasLt.so* ]] || fail "$said"
  echo "$said"
fi

echo "== with them"
site=$("$work/env/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
toolkit=/usr/local/cuda/lib64/libcublasLt.so.13
if [ -n "${NVIDIA_WHEELS:-}" ]; then
  ln -s "$NVIDIA_WHEELS" "$site/nvidia"
elif [ -f "$toolkit" ]; then # the same libraries, where the wheels put them
  mkdir -p "$site/nvidia/"{cu13,cudnn,nccl}
  for part in cu13 cudnn nccl; do
    ln -s "$(dirname "$toolkit")" "$site/nvidia/$part/lib"
  done
else
  "${pip[@]}" --find-links "$wheels" feedrate-cuda
fi
strangers=$(ldd "$site/feedrate/bin/libfeedrate_cuda.so" |
  awk -v own="$site/feedrate/bin/../../nvidia/" '/libcudnn|libcublasLt/ && index($3, own) != 1 {print $1}')
[ -z "$strangers" ] || fail "not taken from the nvidia-* wheels: $strangers"
said=$(says)
[[ $said == *"no NVIDIA driver was found"* || $said == *"no CUDA device"* ]] || fail "$said"
echo "$said"
needs=$("$python" - "$wheels"/feedrate_cuda-*.whl <<'P'
import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
print([name for name in wheel.namelist() if name.endswith(".so")])
metadata = next(name for name in wheel.namelist() if name.endswith("/METADATA"))
print(*(line for line in wheel.read(metadata).decode().splitlines() if line.startswith("Requires-Dist")), sep="\n")
P
)
for name in feedrate nvidia-cublas nvidia-cuda-nvrtc nvidia-cudnn-cu13 nvidia-nccl-cu13; do
  grep -q "^Requires-Dist: $name[=<>]" <<<"$needs" || fail "it does not require $name: $needs"
done
echo "$needs"
echo "cuda_wheel: ok"
