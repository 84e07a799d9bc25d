#!/usr/bin/env bash
# Runs a test program as on a processor with fewer instructions:
#
#   tests/trainer/isa.sh NAME PROGRAM [ARGUMENT…]        tests/trainer/isa.sh list
#
# NAME is one of the settings below: oneDNN's limit and OpenBLAS' kernels, which are what differs most
# between processors. Exits 77, which CTest counts as skipped, where this processor or the installed
# OpenBLAS cannot do it.
set -euo pipefail

#  name          ONEDNN_MAX_CPU_ISA  OPENBLAS_CORETYPE  flags of /proc/cpuinfo
settings='
  sse41          SSE41               Nehalem            sse4_1
  avx2           AVX2                Haswell            avx2,fma
  avx2-zen       AVX2                Zen                avx2,fma
  avx512         AVX512_CORE         SkylakeX           avx512f,avx512bw,avx512vl,avx512dq
  avx512-bf16    AVX512_CORE_BF16    Cooperlake         avx512f,avx512bw,avx512vl,avx512dq,avx512_bf16
  amx            AVX512_CORE_AMX     SapphireRapids     avx512_bf16,amx_tile,amx_int8,amx_bf16
'
if [ "${1:-}" = list ]; then
  awk 'NF { print $1 }' <<<"$settings"
  exit
fi
read -r isa core flags < <(awk -v name="$1" '$1 == name { print $2, $3, $4 }' <<<"$settings") || {
  echo "isa: no setting '$1'; there are $("$0" list | paste -sd ' ')" >&2
  exit 2
}
shift

has=" $(grep -m1 '^flags' /proc/cpuinfo || true) "
for flag in ${flags//,/ }; do
  if [[ $has != *" $flag "* ]]; then
    echo "skipped: this processor has no $flag"
    exit 77
  fi
done
export ONEDNN_MAX_CPU_ISA=$isa OPENBLAS_CORETYPE=$core
# An OpenBLAS without these kernels takes others, silently but for this.
taken=$(OPENBLAS_VERBOSE=2 "$1" --gtest_list_tests 2>&1 | sed -n 's/^Core: //p')
if [ "${taken,,}" != "${core,,}" ]; then
  echo "skipped: OpenBLAS has no kernels for $core, and takes ${taken:-others}"
  exit 77
fi
exec "$@"
