#pragma once
// The samples that a reader of mapped files has gone past, so that the memory of those far behind
// can be given back. One thread.

#include <cstdint>
#include <deque>
#include <optional>

#include "formats/base/bytes.h"

namespace feedrate::converters {

class Trail {
 public:
  /// Notes that the reader has come to `bytes`.
  void pass(formats::Bytes bytes) {
    bytes_ += bytes.size();
    passed_.push_back(bytes);
  }
  /// Takes the oldest sample off the trail when more than `kept` bytes have come since; nothing
  /// when it is still near: then it may be in work elsewhere.
  std::optional<formats::Bytes> take_far_behind() {
    if (passed_.empty() || bytes_ - passed_.front().size() <= kept) return std::nullopt;
    const formats::Bytes oldest = passed_.front();
    passed_.pop_front();
    bytes_ -= oldest.size();
    return oldest;
  }

 private:
  static constexpr std::uint64_t kept = std::uint64_t{128} << 20;

  std::deque<formats::Bytes> passed_;
  std::uint64_t bytes_ = 0;  // of these
};

}  // namespace feedrate::converters
