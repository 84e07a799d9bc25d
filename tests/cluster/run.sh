#!/usr/bin/env bash
# Converts and trains under a real Slurm with four node daemons on this machine, as root:
#
#   tests/cluster/run.sh path/to/feedrate source/directory
#
# An array of samples/cluster/convert.sbatch makes what one process makes, though a node goes away; a
# second job for the same output is told; ranks of srun --mpi=pmix and samples/cluster/train.sbatch
# run. Exits with 77 where Slurm, munge or root is missing.
set -euo pipefail
program=$(realpath "$1")
source=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)

skip() { echo "skipped: $1"; exit 77; }
fail() { echo "FAILED: $1" >&2; shift; [ $# -eq 0 ] || tail -n 20 "$@" >&2; exit 1; }
for tool in slurmctld slurmd srun sbatch munged; do
  command -v "$tool" >/dev/null || skip "$tool is not installed (tools/install-deps.sh tests)"
done
[ "$(id -u)" -eq 0 ] || skip "daemons of a Slurm of its own need root"

directory=$(mktemp -d /tmp/frslurm.XXXX) # short: it holds sockets
# shellcheck source=tests/cluster/slurm.sh
. "$here/slurm.sh"
trap 'stop_slurm; rm -rf "$directory"' EXIT
start_slurm "$directory" 4 || skip "a Slurm does not start here"
cd "$directory"
export FEEDRATE=$program
export OMPI_MCA_mpi_yield_when_idle=1 # more ranks than processors, which srun does not tell them

step() { printf '%3d s  %s\n' "$SECONDS" "$1"; }
same() { diff -r "$1" "$2" >differences || fail "$1 and $2 differ" differences; }
await() { # TEXT SECONDS COMMAND: until COMMAND succeeds
  local deadline=$((SECONDS + $2)) what=$1
  shift 2
  until "$@"; do
    [ $SECONDS -lt $deadline ] || fail "waited in vain until $what" ranks.log
    sleep 0.1
  done
}

step "Slurm runs: $(sinfo -h -o '%D nodes, %c processors each')"
"$program" synth mnist --images 12000 --out archives
conversion=(mnist archives --to webdataset --encode png --shards 32)
"$program" convert "${conversion[@]}" --out one >one.log
convert_array() { # TASKS OUT
  sbatch --parsable --array="1-$1" --cpus-per-task=1 "$source/samples/cluster/convert.sbatch" \
    "${conversion[@]}" --out "$2"
}

# An array whose third task is held up by its node, which then goes away with all that runs on it.
cat >held <<EOF
#!/bin/sh
if [ "\$SLURM_ARRAY_TASK_ID" = 3 ] && [ "\${SLURM_RESTART_COUNT:-0}" = 0 ]; then
  echo "\$SLURMD_NODENAME \$\$" >lost
  exec sleep 600
fi
exec "$program" "\$@"
EOF
chmod +x held
array=$(FEEDRATE=$directory/held convert_array 6 array)
others_done() { [ "$("$program" status array --json 2>/dev/null | grep -c '"state": "done"')" -eq 5 ]; }
await "five parts are whole" 90 others_done
"$program" status array
read -r node task <lost
parent_of() { tr -d ' ' <<<"$(ps -o ppid= -p "$1")"; }
script=$(parent_of "$task")
kill -9 "${slurmd_pid[$node]}" "$(parent_of "$script")" "$script" "$task"
scontrol update NodeName="$node" State=DOWN Reason=lost # else Slurm waits for its SlurmdTimeout
step "node $node went away; Slurm says of its task: $(squeue -h -j "$array" -o '%T, %r')"
scontrol update JobId="${array}_3" StartTime=now # else it waits for two minutes
no_jobs() { [ -z "$(squeue -h)" ]; }
await "the array is whole" 90 no_jobs
same array one
step "the array made what one process makes; the task that was lost:"
tail -n 2 feedrate-convert-"$array"_3.log

srun --mpi=list 2>&1 | grep -q pmix || { step "no PMIx here: the rest is left out"; exit 0; }

# Ranks. The first is stopped once it holds the output, so that a second job comes in between; then
# another rank is killed.
cat >noted <<EOF
#!/bin/sh
echo \$\$ >pid.\$SLURM_PROCID
exec "$program" "\$@"
EOF
chmod +x noted
by_ranks() { # PROGRAM OUT
  srun --mpi=pmix -N 3 -n 4 --kill-on-bad-exit=1 "$1" convert "${conversion[@]}" --threads 1 --out "$2"
}
by_ranks ./noted ranks >ranks.log 2>&1 &
first=$!
await "the first rank holds the output" 90 test -e ranks.partial
kill -STOP "$(cat pid.0)"
[ ! -e ranks ] || fail "the first job ended before the second began"
code=0
by_ranks "$program" ranks >second.log 2>&1 || code=$?
grep -q "another process is writing it" second.log || fail "the second job was not told" second.log
step "a second job at once: exit $code, $(grep -m 1 "another process" second.log)"
kill -9 "$(cat pid.2)"
kill -CONT "$(cat pid.0)"
! wait "$first" || fail "a job with a killed rank succeeded" ranks.log
[ ! -e ranks ] || fail "a job with a killed rank left an output"
by_ranks "$program" ranks >again.log 2>&1 || fail "the same line again" again.log
same ranks one
step "after a rank was killed, the same line made what one process makes: $(cat again.log)"

# Training, by the sample.
sbatch --wait --cpus-per-task=1 --output=train.log "$source/samples/cluster/train.sbatch" one --network lenet \
  --batch 32 --steps 2 --json >/dev/null || fail "train.sbatch" train.log
grep -q '"ranks": 4' train.log || fail "train.sbatch did not train by four ranks" train.log
step "train.sbatch trained by four ranks"
