#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/trainer/batches.h"
#include "trainer/backends/backend.h"
#include "trainer/networks/network.h"

// Counts every allocation by operator new, except with sanitizers, which replace the allocator.
#ifndef __SANITIZE_ADDRESS__
namespace {
std::atomic<std::uint64_t> allocations = 0;

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

// Not inlined, because the compiler would warn that memory from new is passed to free().
#define FEEDRATE_REPLACED [[gnu::noinline]]
FEEDRATE_REPLACED void* operator new(std::size_t size) {
  return counted(size, alignof(std::max_align_t));
}
FEEDRATE_REPLACED void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
FEEDRATE_REPLACED void operator delete(void* memory) noexcept { std::free(memory); }
FEEDRATE_REPLACED void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
FEEDRATE_REPLACED void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
FEEDRATE_REPLACED void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace feedrate::trainer {
using namespace loader;

namespace {

// Only of our own code: oneDNN, which these networks do not use, allocates a table in each call.
TEST(UnitCpuSession, a_step_allocates_nothing) {
  for (const std::string_view name : {"lenet", "mlp"}) {
    const auto session = backend("cpu").compile(make_plan(network(name).build({28, 28, 1}, 10), 32),
                                                {.threads = 2, .optimizer = &optimizer("sgd")});
    initialise(*session, 1);
    testing::RandomSource source({.batch = 32});
    const Batch& batch = *source.next();
    session->upload(batch);
    session->train_step({}, 0);
    const std::uint64_t before = allocations;
    session->upload(batch);
    session->train_step({}, 1);
    session->evaluate_step();
    session->take_metrics();
    EXPECT_EQ(allocations - before, 0U) << name;
  }
}

}  // namespace
}  // namespace feedrate::trainer
#endif
