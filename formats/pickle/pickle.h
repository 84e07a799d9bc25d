#pragma once
// Python's pickle, protocols 2 to 5, read without running anything: plain values and numpy arrays.
// What else a pickle asks for (any other opcode, any other function or class) is refused by name.
//
//   80 02 | 7d | 71 01  | 28 | 55 06 "labels" | … | 75       | 2e     an opcode is one byte, its
//   PROTO | {} | BINPUT | (  | SHORT_BINSTRING| … | SETITEMS | STOP   arguments follow it

#include <memory>

#include "formats/pickle/pickle_value.h"

namespace feedrate::formats {

/// A pickle, read. Moves; any thread may look at the values. They live as long as this object and
/// `input`, of which they are views; all together take memory in proportion to the input, with at
/// most 4 Mi values in at most 64 levels.
class Pickle {
 public:
  /// `input` is one pickle, whole. Throws Error naming the byte and the opcode there (without a
  /// file: the caller knows it) when it is cut off, damaged, followed by something, or refused.
  explicit Pickle(Bytes input);
  ~Pickle();
  Pickle(Pickle&&) noexcept;
  Pickle& operator=(Pickle&&) noexcept;

  const PickleValue& value() const { return *value_; }

  /// True when the bytes start like a pickle of protocol 2 to 5.
  static bool starts(Bytes input);

 private:
  std::unique_ptr<class PickleStack> stack_;
  const PickleValue* value_ = nullptr;
};

}  // namespace feedrate::formats
