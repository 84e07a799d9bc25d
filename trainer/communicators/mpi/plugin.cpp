// The MPI plug-in. Sums are started one by one and awaited together, so that the sums of the last
// layers travel while the gradients of the first layers are computed.

#include <mpi.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "trainer/communicators/mpi_plugin.h"

namespace {

std::vector<MPI_Request> under_way;

// MPI's counts are ints, of which this uses half the range.
constexpr std::size_t max_values = std::size_t{std::numeric_limits<int>::max()} / 2;

void begin_sum(float* values, std::size_t count) {
  while (count > 0) {
    const std::size_t part = std::min(count, max_values);
    under_way.emplace_back();
    MPI_Iallreduce(MPI_IN_PLACE, values, static_cast<int>(part), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                   &under_way.back());
    values += part;
    count -= part;
  }
}

void progress() {
  int done = 0;
  MPI_Testall(static_cast<int>(under_way.size()), under_way.data(), &done, MPI_STATUSES_IGNORE);
}

void finish() {
  MPI_Waitall(static_cast<int>(under_way.size()), under_way.data(), MPI_STATUSES_IGNORE);
  under_way.clear();
}

void sum(double* values, std::size_t count) {
  MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(count), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void close_world() { MPI_Finalize(); }

FeedrateMpi table{0, 1, begin_sum, progress, finish, sum, close_world};

}  // namespace

extern "C" __attribute__((visibility("default"))) const FeedrateMpi* feedrate_mpi() {
  int already = 0;
  MPI_Initialized(&already);
  if (already != 0) return &table;
  int given = 0;
  // Loader and compute threads run at the same time, but only one thread calls MPI.
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS ||
      given < MPI_THREAD_FUNNELED) {
    return nullptr;
  }
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  table.rank = static_cast<unsigned>(rank);
  table.ranks = static_cast<unsigned>(ranks);
  return &table;
}
