#!/usr/bin/env bash
# Runs every line of README's code blocks in order, as a reader would who pastes them one after the
# other. Downloads become small made archives, and measurements become short.
#   run.sh PROGRAM SOURCE_DIRECTORY
set -euo pipefail
program=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What the blocks call `feedrate`: the program, on less.
mkdir -p "$work/build/release"
cat >"$work/build/release/feedrate" <<SHIM
#!/usr/bin/env bash
set -euo pipefail
words=()
while [ \$# -gt 0 ]; do
  case \$1 in
    --seconds) words+=(--seconds 0.2); shift ;;
    --shards) words+=(--shards 4); shift ;;
    *) words+=("\$1") ;;
  esac
  shift
done
case \${words[0]} in
  fetch) words=(synth mnist --images 640 "\${words[@]:2}") ;;
  bench) words+=(--repeat 1 --seconds 0.1) ;;
  advise) words+=(--seconds 2) ;;
  diagnose) words=(diagnose -- true) ;;
esac
exec "$program" "\${words[@]}"
SHIM
chmod +x "$work/build/release/feedrate"
"$program" synth imagenet --images 64 --out "$work/imagenet"
mv "$work"/imagenet/* "$work"

blocks=$(awk '/^```sh$/ {inside = 1; next} /^```/ {inside = 0} inside' "$source/README.md")
: "${blocks:?README.md has no code block}"
while read -r script _; do # the two commands, which install and build: other tests run them
  [ -x "$source/$script" ] || { echo "README.md names $script, which cannot be run" >&2; exit 1; }
done < <(grep -E '^(samples|tests)/' <<<"$blocks")

cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMP_NUM_THREADS=1
if ! command -v mpirun >/dev/null; then
  blocks=$(grep -v '^mpirun ' <<<"$blocks")
fi
grep -vE '^(samples|tests)/' <<<"$blocks" >lines.sh
bash -euxo pipefail lines.sh
for file in sheet.png lenet.safetensors train.jsonl results.jsonl report.html; do
  [ -s "$file" ] || { echo "README.md's lines left no $file" >&2; exit 1; }
done
