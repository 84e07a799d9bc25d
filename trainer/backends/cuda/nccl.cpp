#include "trainer/backends/cuda/nccl.cuh"

#include <dlfcn.h>

#include <cstdlib>

#include "formats/base/error.h"
#include "trainer/communicators/plugin_path.h"

#if __has_include(<nccl.h>)
#include <nccl.h>
static_assert(sizeof(ncclUniqueId) == sizeof(feedrate::trainer::cuda::NcclId));
static_assert(ncclFloat32 == feedrate::trainer::cuda::Nccl::float32);
static_assert(ncclFloat64 == feedrate::trainer::cuda::Nccl::float64);
static_assert(ncclSum == feedrate::trainer::cuda::Nccl::add && ncclSuccess == 0);
#endif

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

constexpr const char* usual_file = "libnccl.so.2";

template <class Function>
void take(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) throw Error(join("NCCL has no ", name, "; it must be version 2"));
}

Nccl load() {
  const char* given = std::getenv("FEEDRATE_NCCL");
  void* library = dlopen(given != nullptr ? given : usual_file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(
        join("the cuda backend needs NCCL to train in several processes, but it cannot be "
             "loaded: ",
             last_loader_error(), "; --device cpu does not need it"));
  }
  Nccl loaded{};
  take(library, "ncclGetUniqueId", loaded.get_unique_id);
  take(library, "ncclCommInitRank", loaded.comm_init_rank);
  take(library, "ncclAllReduce", loaded.all_reduce);
  take(library, "ncclCommDestroy", loaded.comm_destroy);
  take(library, "ncclCommAbort", loaded.comm_abort);
  take(library, "ncclGetErrorString", loaded.error_text);
  return loaded;
}

}  // namespace

const Nccl& nccl() {
  static const Nccl once = load();
  return once;
}

void check_nccl(int status, const char* call) {
  if (status != 0) throw Error(join("NCCL: ", call, ": ", nccl().error_text(status)));
}

}  // namespace feedrate::trainer::cuda
