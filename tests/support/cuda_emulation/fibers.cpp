// Kernels on fibers. A block runs on one thread of the host, with fibers of its own.

#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "blocks.h"
#include "kernel_language.h"
#include "queue.h"

constinit thread_local dim3 gridDim;
constinit thread_local dim3 blockDim;
constinit thread_local dim3 blockIdx;
constinit thread_local dim3 threadIdx;

namespace feedrate::emulation {
namespace {

constexpr std::size_t stack_bytes = std::size_t{64} << 10;
constexpr unsigned warp = 32;

enum class State { ready, at_block_barrier, at_warp_barrier, done };

struct Fiber {
  ucontext_t context{};
  std::unique_ptr<std::byte[]> stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
  State state = State::done;
};

thread_local std::vector<Fiber> fibers;
thread_local std::vector<std::byte> exchanged;  // 16 bytes per thread
thread_local ucontext_t scheduler;
thread_local const std::function<void()>* body;
thread_local unsigned running;

/// What comes before the kernel that runs, if that kernel has started early.
struct WorkBefore {
  Work work;
};
thread_local WorkBefore* work_before = nullptr;

void enter() {
  (*body)();
  fibers[running].state = State::done;
  swapcontext(&fibers[running].context, &scheduler);
}

void start(unsigned thread) {
  Fiber& fiber = fibers[thread];
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = stack_bytes;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, enter, 0);
  fiber.state = State::ready;
}

void resume(unsigned thread) {
  running = thread;
  threadIdx = dim3(thread, 0, 0);
  swapcontext(&scheduler, &fibers[thread].context);
}

// If every running thread of [first, end) is at `barrier`, lets them continue and returns true.
bool release(unsigned first, unsigned end, State barrier) {
  bool any = false;
  for (unsigned i = first; i < end; ++i) {
    if (fibers[i].state == State::done) continue;
    if (fibers[i].state != barrier) return false;
    any = true;
  }
  for (unsigned i = first; any && i < end; ++i) {
    if (fibers[i].state == barrier) fibers[i].state = State::ready;
  }
  return any;
}

void run_block(unsigned threads, bool reversed) {
  for (unsigned i = 0; i < threads; ++i) start(i);
  for (;;) {
    bool alive = false;
    for (unsigned i = 0; i < threads; ++i) {
      const unsigned thread = reversed ? threads - 1 - i : i;
      if (fibers[thread].state == State::ready) resume(thread);
      alive |= fibers[thread].state != State::done;
    }
    if (!alive) return;
    bool released = release(0, threads, State::at_block_barrier);
    if (released) let_others_run();
    for (unsigned i = 0; i < threads; i += warp) {
      released |= release(i, std::min(i + warp, threads), State::at_warp_barrier);
    }
    if (!released) {
      std::fputs("emulated kernel: threads wait at a barrier that others never reach\n", stderr);
      std::abort();
    }
  }
}

void run(dim3 blocks, dim3 threads, const std::function<void()>& thread) {
  const Order order = order_of_environment();
  WorkBefore* const before = work_before;
  each_block(blocks.x * blocks.y, order, [&](unsigned block) {
    if (fibers.size() < threads.x) fibers.resize(threads.x);
    exchanged.resize(fibers.size() * 16);
    work_before = before;  // blocks may run on other threads of the host
    gridDim = blocks;
    blockDim = threads;
    blockIdx = dim3(block % blocks.x, block / blocks.x, 0);
    body = &thread;
    run_block(threads.x, order == Order::reversed);
  });
}

}  // namespace

void run_early(const Work& kernel, Work before) {
  WorkBefore pending{std::move(before)};
  WorkBefore* const outer = std::exchange(work_before, &pending);
  kernel();
  wait_for_work_before();  // it did not wait, so it ran too early
  work_before = outer;
}

void wait_for_work_before() {
  if (work_before == nullptr || !work_before->work) return;
  // A thread of its own, because this one is within a kernel.
  std::jthread([work = std::exchange(work_before->work, nullptr)] { work(); }).join();
}

void wait_at(Barrier barrier) {
  const unsigned self = running;
  fibers[self].state = barrier == Barrier::block ? State::at_block_barrier : State::at_warp_barrier;
  swapcontext(&fibers[self].context, &scheduler);
}

void exchange(const void* mine, void* theirs, std::size_t bytes, unsigned mask) {
  const unsigned self = running;
  std::memcpy(&exchanged[self * 16], mine, bytes);
  wait_at(Barrier::warp);
  std::memcpy(theirs, &exchanged[(self ^ mask) * 16], bytes);
  wait_at(Barrier::warp);
}

unsigned ballot(bool mine) {
  const unsigned self = running, first = self / warp * warp;
  exchanged[self * 16] = std::byte{mine};
  wait_at(Barrier::warp);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < warp && first + lane < blockDim.x; ++lane) {
    const bool given =
        fibers[first + lane].state != State::done && exchanged[(first + lane) * 16] != std::byte{0};
    bits |= (given ? 1U : 0U) << lane;
  }
  wait_at(Barrier::warp);
  return bits;
}

cudaError_t launch(dim3 blocks, dim3 threads, cudaStream_t stream, std::function<void()> thread,
                   bool starts_early) {
  if (!captured(stream)) ++counts().kernels;
  return enqueue(
      stream,
      [=] {
        run(blocks, threads, thread);
        pass(launch_milliseconds);
      },
      starts_early);
}

}  // namespace feedrate::emulation
