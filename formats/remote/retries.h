#pragma once
// How long to wait before asking a server again: longer each time, at random, so that many clients
// do not come back together.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace feedrate::formats {

/// One thread.
class Retries {
 public:
  using Duration = std::chrono::milliseconds;

  /// How long to wait before the next attempt; nothing when there have been enough. `random` is any
  /// number; `asked_for` is what the server asked for, if it did.
  std::optional<Duration> next(std::uint64_t random,
                               std::optional<unsigned> asked_for_seconds = {}) {
    if (failed_ == max_attempts - 1 || silences_ == max_silences) return std::nullopt;
    const Duration longest = std::min(first_wait * (1 << failed_++), longest_wait);
    const Duration wait =
        longest / 2 + Duration(static_cast<Duration::rep>(
                          random % static_cast<std::uint64_t>(longest.count() / 2 + 1)));
    if (!asked_for_seconds) return wait;
    const std::chrono::seconds asked(std::min(*asked_for_seconds, max_asked_seconds));
    return std::max(wait, Duration(asked));
  }
  /// Before next(): the attempt ended in silence. Fewer of those are enough, since each takes long.
  void add_silence() { ++silences_; }
  unsigned failed() const { return failed_; }

  static constexpr unsigned max_attempts = 8;
  static constexpr unsigned max_silences = 3;

 private:
  static constexpr Duration first_wait{100};
  static constexpr Duration longest_wait{5000};
  static constexpr unsigned max_asked_seconds = 30;

  unsigned failed_ = 0;
  unsigned silences_ = 0;
};

}  // namespace feedrate::formats
