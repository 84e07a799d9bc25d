#pragma once
// The samples that a reader of mapped files has passed, so that memory far behind it can be
// released. For one thread.

#include <cstdint>
#include <deque>
#include <optional>

#include "formats/base/bytes.h"

namespace feedrate::converters {

class Trail {
 public:
  /// Notes that the reader has reached `bytes`.
  void pass(formats::Bytes bytes) {
    bytes_ += bytes.size();
    passed_.push_back(bytes);
  }
  /// Takes the oldest sample off the trail if more than kept_bytes were read since. Nothing if
  /// fewer were: another thread may still be working on it.
  std::optional<formats::Bytes> take_far_behind() {
    if (passed_.empty() || bytes_ - passed_.front().size() <= kept_bytes) return std::nullopt;
    const formats::Bytes oldest = passed_.front();
    passed_.pop_front();
    bytes_ -= oldest.size();
    return oldest;
  }

 private:
  static constexpr std::uint64_t kept_bytes = std::uint64_t{128} << 20;

  std::deque<formats::Bytes> passed_;
  std::uint64_t bytes_ = 0;  // in passed_
};

}  // namespace feedrate::converters
