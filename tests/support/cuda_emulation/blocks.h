#pragma once
// The order in which the blocks of a kernel run. CUDA promises none, so every order must give the
// same bits. FEEDRATE_EMULATED_ORDER chooses:
//
//   unset        from the first to the last
//   reversed     from the last to the first, and so the threads of a block
//   interleaved  a few at once, which take turns by chance at barriers, fences and atomics
//
// The last shows races between blocks. It cannot show a missing fence: all blocks see one memory.

#include <functional>

namespace feedrate::emulation {

enum class Order { forward, reversed, interleaved };
Order order_of_environment();

/// Calls run(block) for 0 ≤ block < count in this order; interleaved, on threads of its own.
void each_block(unsigned count, Order order, const std::function<void(unsigned block)>& run);

}  // namespace feedrate::emulation
