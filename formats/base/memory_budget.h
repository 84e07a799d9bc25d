#pragma once
// A limit on the memory that several threads fill together.

#include <atomic>
#include <cstdint>

namespace feedrate::formats {

/// Any thread.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t bytes) : total_(bytes), left_(bytes) {}

  /// Takes `bytes` of what is left; false, and nothing is taken, when that is less.
  bool take(std::uint64_t bytes) {
    std::uint64_t found = left_;
    while (found >= bytes && !left_.compare_exchange_weak(found, found - bytes)) {
    }
    return found >= bytes;
  }
  std::uint64_t total() const { return total_; }

 private:
  std::uint64_t total_;
  std::atomic<std::uint64_t> left_;
};

}  // namespace feedrate::formats
