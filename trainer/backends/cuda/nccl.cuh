#pragma once
// The part of NCCL 2 that we call, declared here and loaded by name, so that neither the build nor
// the start of the program needs NCCL.

#include <cuda_runtime_api.h>

#include <cstddef>

struct ncclComm;

namespace feedrate::trainer::cuda {

struct NcclId {
  char bytes[128];
};

/// NCCL's functions; each returns 0 for success.
struct Nccl {
  static constexpr int float32 = 7, float64 = 8;  // ncclDataType_t
  static constexpr int add = 0;                   // ncclRedOp_t

  int (*get_unique_id)(NcclId*);
  int (*comm_init_rank)(ncclComm**, int ranks, NcclId, int rank);
  int (*all_reduce)(const void* from, void* to, std::size_t count, int type, int operation,
                    ncclComm*, cudaStream_t);
  int (*comm_destroy)(ncclComm*);
  int (*comm_abort)(ncclComm*);
  const char* (*error_text)(int);
};

/// Throws Error when libnccl.so.2, or the file that FEEDRATE_NCCL names, cannot be loaded.
const Nccl& nccl();
/// Throws Error with NCCL's own text if `status` is not 0.
void check_nccl(int status, const char* call);

}  // namespace feedrate::trainer::cuda
