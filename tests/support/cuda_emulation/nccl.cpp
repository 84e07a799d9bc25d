// The part of NCCL that we call, for processes of one machine: sums through a file they all map, in
// the order of the ranks. FEEDRATE_EMULATED_NCCL makes it fail.

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "queue.h"
#include "tests/support/shared_barrier.h"

namespace {

constexpr int max_ranks = 8;
constexpr std::size_t part_bytes = std::size_t{64} << 10;

struct Shared {
  feedrate::testing::SharedBarrier barrier;
  std::byte parts[max_ranks][part_bytes];
};

struct Id {
  char file[128];
};

// What the sums that were begun need. They outlive a communicator that was given up.
struct Sums {
  Sums(Shared* mapped, int all, int own) : shared(mapped), ranks(all), rank(own) {}
  ~Sums() { munmap(shared, sizeof(Shared)); }
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;

  template <class T>
  void sum(const T* from, T* to, std::size_t count) const {
    constexpr std::size_t max_count = part_bytes / sizeof(T);
    for (std::size_t done = 0; done < count; done += max_count) {
      const std::size_t part = std::min(max_count, count - done);
      std::memcpy(shared->parts[rank], from + done, part * sizeof(T));
      wait();
      if (given_up) return;
      for (std::size_t i = 0; i < part; ++i) {
        T all = 0;
        for (int r = 0; r < ranks; ++r) all += reinterpret_cast<const T*>(shared->parts[r])[i];
        to[done + i] = all;
      }
      wait();
    }
  }
  void wait() const { shared->barrier.wait(static_cast<std::uint32_t>(ranks), &given_up); }

  Shared* shared;
  int ranks;
  int rank;
  std::atomic<bool> given_up = false;
};

}  // namespace

struct ncclComm {
  std::shared_ptr<Sums> sums;
};

extern "C" {

const char* ncclGetErrorString(int) { return "emulated failure of NCCL"; }

int ncclGetUniqueId(Id* id) {
  std::strcpy(id->file, "/tmp/feedrate-emulated-nccl-XXXXXX");
  const int file = mkstemp(id->file);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) return 2;
  close(file);
  return 0;
}

int ncclCommInitRank(ncclComm** all, int ranks, Id id, int rank) {
  if (std::getenv("FEEDRATE_EMULATED_NCCL") != nullptr || ranks > max_ranks) return 5;
  const int file = open(id.file, O_RDWR);
  if (file < 0) return 2;
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return 2;
  *all = new ncclComm{std::make_shared<Sums>(static_cast<Shared*>(memory), ranks, rank)};
  (*all)->sums->wait();
  if (rank == 0) unlink(id.file);
  return 0;
}

int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int operation,
                  ncclComm* all, cudaStream_t stream) {
  if ((type != 7 && type != 8) || operation != 0 || all == nullptr) return 4;
  const cudaError_t taken = feedrate::emulation::enqueue(stream, [=, sums = all->sums] {
    if (sums->given_up) return;
    if (type == 7) {
      sums->sum(static_cast<const float*>(from), static_cast<float*>(to), count);
    } else {
      sums->sum(static_cast<const double*>(from), static_cast<double*>(to), count);
    }
  });
  return taken == cudaSuccess ? 0 : 1;
}

int ncclCommDestroy(ncclComm* all) {
  delete all;
  return 0;
}
int ncclCommAbort(ncclComm* all) {
  if (all != nullptr) all->sums->given_up = true;
  return ncclCommDestroy(all);
}

}  // extern "C"
