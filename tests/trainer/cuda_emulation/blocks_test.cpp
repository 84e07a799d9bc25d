// Kernels with planted races between blocks: the emulated device's orders must show each of them,
// and leave the kernel without a fault alone.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "tests/support/cuda_emulation/kernel_language.h"

namespace feedrate::emulation {
namespace {

enum class Fault {
  none,
  last_by_number,       // takes the block with the highest number for the last one
  counts_too_early,     // counts as arrived before its sum is written
  sums_as_they_arrive,  // adds sums in the order of arrival
  reads_a_neighbour,    // reads what another block of the same kernel writes
};

constexpr unsigned blocks = 7;
constexpr unsigned threads = 32;

struct Memory {
  std::vector<float> values = std::vector<float>(std::size_t{blocks} * threads);
  std::vector<float> sums = std::vector<float>(blocks);
  unsigned arrivals = 0;
  unsigned places = 0;
  float total = -1;
};

// As the sums of columns: each block sums its values; the one that comes last adds the sums.
void sum_kernel(Memory* memory, Fault fault) {
  __shared__ float of_threads[threads];
  __shared__ bool last;
  __shared__ unsigned place;
  of_threads[threadIdx.x] = memory->values[std::size_t{blockIdx.x} * threads + threadIdx.x];
  if (fault == Fault::reads_a_neighbour) {
    of_threads[threadIdx.x] += memory->sums[(blockIdx.x + 1) % blocks];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const auto arrive = [&] { last = atomicAdd(&memory->arrivals, 1U) + 1 == gridDim.x; };
    if (fault == Fault::counts_too_early) arrive();
    float sum = 0;
    for (const float value : of_threads) sum += value;
    place = blockIdx.x;
    if (fault == Fault::sums_as_they_arrive) place = atomicAdd(&memory->places, 1U);
    memory->sums[place] = sum;
    __threadfence();
    if (fault != Fault::counts_too_early) arrive();
    if (fault == Fault::last_by_number) last = blockIdx.x + 1 == gridDim.x;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  float total = 0;
  for (const float sum : memory->sums) total += sum;
  memory->total = total;
}

float total(Fault fault, const char* order) {
  setenv("FEEDRATE_EMULATED_ORDER", order, 1);
  Memory memory;
  for (std::size_t i = 0; i < memory.values.size(); ++i) {
    // The order of additions changes the bits: 1, 1/3, … beside 3e6, 1e6, …
    const float value = 1.0F / static_cast<float>(i + 1);
    memory.values[i] = i % 3 == 0 ? 3e6F * value : value;
  }
  launch({blocks, 1, 1}, {threads, 1, 1}, nullptr, [&] { sum_kernel(&memory, fault); });
  cudaDeviceSynchronize();
  unsetenv("FEEDRATE_EMULATED_ORDER");
  return memory.total;
}

/// The orders in which the kernel gives other bits than the faultless one.
std::vector<std::string> shown_by(Fault fault) {
  const float right = total(Fault::none, "forward");
  std::vector<std::string> orders;
  for (const char* order : {"forward", "reversed", "interleaved"}) {
    bool differs = false;
    for (int run = 0; run < 30 && !differs; ++run) differs = total(fault, order) != right;
    if (differs) orders.emplace_back(order);
  }
  return orders;
}

using Orders = std::vector<std::string>;

TEST(UnitEmulatedBlocks, a_kernel_without_a_race_has_the_same_bits_in_every_order) {
  EXPECT_EQ(shown_by(Fault::none), Orders());
}

TEST(UnitEmulatedBlocks, a_planted_race_shows) {
  EXPECT_EQ(shown_by(Fault::last_by_number), Orders({"reversed", "interleaved"}));
  EXPECT_EQ(shown_by(Fault::sums_as_they_arrive), Orders({"reversed", "interleaved"}));
  EXPECT_EQ(shown_by(Fault::reads_a_neighbour), Orders({"forward", "reversed", "interleaved"}));
}

TEST(UnitEmulatedBlocks, only_blocks_that_run_at_once_show_one_that_counts_too_early) {
  EXPECT_EQ(shown_by(Fault::counts_too_early), Orders({"interleaved"}));
}

// Kernels that start while the one before still runs.
class UnitEmulatedEarlyKernels : public ::testing::Test {
 protected:
  void SetUp() override { cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking); }
  void TearDown() override { cudaStreamDestroy(stream_); }

  /// Three kernels, each of which adds to what the one before has written. Returns what the last
  /// wrote.
  float add_three_times(bool waits) {
    std::vector<float> values(threads, 1);
    for (int i = 0; i < 3; ++i) {
      launch(
          {1, 1, 1}, {threads, 1, 1}, stream_,
          [&values, i, waits] {
            if (waits || i == 0) wait_for_work_before();
            const float before = values[(threadIdx.x + 1) % threads];
            wait_at(Barrier::block);
            values[threadIdx.x] = before * 2 + static_cast<float>(i);
          },
          i > 0);
    }
    cudaStreamSynchronize(stream_);
    return values[0];
  }

  cudaStream_t stream_ = nullptr;
};

TEST_F(UnitEmulatedEarlyKernels, follow_the_one_before_where_they_wait_for_it) {
  for (const char* order : {"forward", "reversed", "interleaved"}) {
    setenv("FEEDRATE_EMULATED_ORDER", order, 1);
    EXPECT_EQ(add_three_times(true), ((1 * 2 + 0) * 2 + 1) * 2 + 2) << order;
  }
  unsetenv("FEEDRATE_EMULATED_ORDER");
}

TEST_F(UnitEmulatedEarlyKernels, one_that_forgets_to_wait_reads_what_was_there_before) {
  EXPECT_EQ(add_three_times(false), ((1 * 2 + 2) * 2 + 1) * 2 + 0) << "the last ran first";
}

}  // namespace
}  // namespace feedrate::emulation
