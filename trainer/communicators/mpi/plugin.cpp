// The MPI plug-in. Sums are started one by one and awaited together, so that the sums of the last
// layers travel while the gradients of the first layers are computed.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

#include "trainer/communicators/mpi_plugin.h"

namespace {

std::vector<MPI_Request> under_way;
extern FeedrateMpi table;

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

void broadcast(std::byte* bytes, std::size_t count) {
  MPI_Bcast(bytes, static_cast<int>(count), MPI_BYTE, 0, MPI_COMM_WORLD);
}

// The counter is not one-sided: between the nodes of srun --mpi=pmix, Debian's Open MPI 4.1 makes a
// window (MPI_Win_create, MPI_Win_allocate) with osc=pt2pt alone, which answers only while rank 0
// is inside MPI: a rank waited for two seconds while rank 0 slept that long. So rank 0 has to call
// MPI often anyway, and answers by itself; its thread has nothing else to do.
std::uint64_t counter = 0;  // on rank 0
constexpr int ask_tag = 1, answer_tag = 2;

std::uint64_t add_here(std::uint64_t step) {
  const std::uint64_t before = counter;
  counter += step;
  return before;
}

void answer_others() {
  if (table.rank != 0) return;
  for (;;) {
    int asked = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, ask_tag, MPI_COMM_WORLD, &asked, &status);
    if (asked == 0) return;
    std::uint64_t step = 0;
    MPI_Recv(&step, 1, MPI_UINT64_T, status.MPI_SOURCE, ask_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const std::uint64_t before = add_here(step);
    MPI_Send(&before, 1, MPI_UINT64_T, status.MPI_SOURCE, answer_tag, MPI_COMM_WORLD);
  }
}

std::uint64_t add_to_counter(std::uint64_t step) {
  if (table.rank == 0) return add_here(step);
  std::uint64_t before = 0;
  MPI_Send(&step, 1, MPI_UINT64_T, 0, ask_tag, MPI_COMM_WORLD);
  MPI_Recv(&before, 1, MPI_UINT64_T, 0, answer_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return before;
}

// MPI_Barrier would keep a processor busy, perhaps for hours.
void wait_for_all() {
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all);
  for (int done = 0; done == 0;) {
    answer_others();
    MPI_Test(&all, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void close_world() { MPI_Finalize(); }

FeedrateMpi table{0,          1,         begin_sum,     progress,       finish,
                  sum,        broadcast, answer_others, add_to_counter, wait_for_all,
                  close_world};

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
