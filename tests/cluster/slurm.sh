#!/usr/bin/env bash
# A Slurm of this machine alone: a controller, several node daemons and munge, on loopback, as root.
# Source it, then call start_slurm DIRECTORY NODES. Everything lies in DIRECTORY, which must be
# short (sockets), and stop_slurm ends what was started, by its process id.

slurm_pids=()

start_slurm() {
  local here=$1 nodes=$2 port=$((20000 + $$ % 20000)) host user=root
  host=$(hostname -s)
  mkdir -p "$here/state"
  chmod 755 "$here"
  dd if=/dev/urandom of="$here/munge.key" bs=128 count=1 status=none
  chmod 600 "$here/munge.key"
  # --force: the directory is below /tmp, which everyone may write.
  munged --foreground --force --num-threads=2 --key-file="$here/munge.key" --socket="$here/munge.socket" \
    --pid-file="$here/munge.pid" --seed-file="$here/munge.seed" --log-file="$here/munge.log" \
    >"$here/munged.out" 2>&1 &
  slurm_pids+=($!)

  # Every "node" is a daemon with a port of its own. Four processors each, whatever this machine has
  # (config_overrides), so that several tasks run at once.
  cat >"$here/slurm.conf" <<EOF
ClusterName=feedrate
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$here/munge.socket
CredType=cred/munge
SlurmctldPort=$port
StateSaveLocation=$here/state
SlurmdSpoolDir=$here/spool/%n
TmpFS=$here/tmp/%n
SlurmctldPidFile=$here/slurmctld.pid
SlurmdPidFile=$here/slurmd.%n.pid
SlurmctldLogFile=$here/slurmctld.log
SlurmdLogFile=$here/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
SlurmctldTimeout=5
KillWait=1
InactiveLimit=0
MinJobAge=300
LaunchParameters=enable_nss_slurm
EOF
  local node
  for node in $(seq "$nodes"); do
    mkdir -p "$here/spool/n$node" "$here/tmp/n$node"
    echo "NodeName=n$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + node)) CPUs=4 RealMemory=100" \
      >>"$here/slurm.conf"
  done
  echo "PartitionName=all Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP" >>"$here/slurm.conf"
  export SLURM_CONF=$here/slurm.conf

  slurmctld -D >"$here/slurmctld.out" 2>&1 &
  slurm_pids+=($!)
  for node in $(seq "$nodes"); do
    start_node "$here" "n$node"
  done
  local waited
  for waited in $(seq 100); do
    [ "$(sinfo -h -N -t idle -o %N 2>/dev/null | wc -l)" -eq "$nodes" ] && return 0
    sleep 0.1
  done
  echo "Slurm did not start; the end of its logs, after $waited tries:" >&2
  tail -n 5 "$here"/*.log "$here"/*.out >&2
  return 1
}

declare -A slurmd_pid
start_node() { # DIRECTORY NAME
  slurmd -D -N "$2" >"$1/slurmd.$2.out" 2>&1 &
  slurmd_pid[$2]=$!
  slurm_pids+=($!)
}

stop_slurm() {
  local pid
  scancel --quiet --user=root 2>/dev/null || true
  for pid in "${slurm_pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${slurm_pids[@]}"; do
    for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -9 "$pid" 2>/dev/null || true
  done
  wait 2>/dev/null || true
}
