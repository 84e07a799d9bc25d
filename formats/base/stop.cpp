#include "formats/base/stop.h"

#include <atomic>

namespace feedrate::formats {
namespace {

std::atomic<bool> requested = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler sets it

}  // namespace

void request_stop() noexcept { requested = true; }

bool stop_requested() noexcept { return requested; }

void throw_if_stop_requested() {
  if (requested) throw Stopped();
}

}  // namespace feedrate::formats
