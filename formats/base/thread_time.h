#pragma once
// Processor time of the thread that asks.

#include <chrono>

namespace feedrate::formats {

/// Since the thread started.
std::chrono::nanoseconds thread_cpu_time();
/// The same, and its waiting for a processor, where the system counts that.
std::chrono::nanoseconds thread_cpu_wanted();

}  // namespace feedrate::formats
