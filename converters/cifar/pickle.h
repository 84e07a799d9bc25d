#pragma once
// Python's pickle, protocols 2 to 5, as far as CIFAR's batches need it, also when another Python or
// numpy saved them again: strings, small integers, lists, tuples, dicts and arrays of integers.
// Nothing is run: any other opcode, function or class is refused.
//
//   80 02 | 7d | 71 01  | 28 | 55 06 "labels" | … | 75       | 2e     an opcode is one byte, its
//   PROTO | {} | BINPUT | (  | SHORT_BINSTRING| … | SETITEMS | STOP   arguments follow it

#include <deque>
#include <vector>

#include "converters/cifar/pickle_value.h"

namespace feedrate::converters {

/// A pickle, read. Moves; any thread may look at the values. They live as long as this object and
/// `input`, of which they are views; all together take memory in proportion to the input, with at
/// most 1 Mi values.
class Pickle {
 public:
  /// `input` is one pickle, whole. Throws Error naming the byte and the opcode there (without a
  /// file: the caller knows it) when it is cut off, damaged, followed by something, or refused.
  explicit Pickle(formats::Bytes input);
  Pickle(Pickle&&) = default;
  Pickle& operator=(Pickle&&) = default;

  const PickleValue& value() const { return *value_; }

  /// True when the bytes start like a pickle of protocol 2 to 5.
  static bool starts(formats::Bytes input);

 private:
  std::deque<PickleValue> values_;      // a deque, so that they stay where they are
  std::vector<formats::Buffer> texts_;  // bytes that the input holds in another form
  const PickleValue* value_ = nullptr;
};

}  // namespace feedrate::converters
