#pragma once
// What a pickle makes and where it keeps it: values, a stack with marks, a memo. Every bound on
// memory and depth is here. For pickle.cpp; one thread.

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "formats/pickle/pickle_value.h"

namespace feedrate::formats {

/// A value while its pickle is read.
struct PickleNode : PickleValue {
  bool inside = false;  // another value: then it must not change, or it could come to hold itself
  unsigned levels = 0;  // below it
};

/// All members throw Error when the pickle asks for what is not there or for too much.
class PickleStack {
 public:
  /// For a pickle of so many bytes.
  explicit PickleStack(std::size_t input_bytes) : input_bytes_(input_bytes) {}

  /// Every value is pushed once or more, so this one count bounds all memory.
  void push(PickleNode& node);
  PickleNode& push_new(PickleValue::Kind kind);
  /// Only what lies above the last mark can be reached.
  PickleNode& top();
  PickleNode& pop();

  void mark();
  /// Everything above the last mark, which goes as well.
  std::vector<PickleNode*> pop_to_mark();
  /// True when nothing lies above the last mark.
  bool at_mark() const { return !marks_.empty() && marks_.back() == nodes_.size(); }
  void drop_mark() { marks_.pop_back(); }

  /// Appends `nodes` to `container`, which must be of that kind.
  void put_into(PickleNode& container, PickleValue::Kind kind, std::span<PickleNode* const> nodes);
  /// A value that others hold must stay as it is.
  static void expect_outside(const PickleNode& node);

  void remember(std::uint64_t key);
  void remember_next() { remember(remembered_); }
  void recall(std::uint64_t key);

  /// Memory for bytes that stand in the input in another form. `keep` ends each use.
  Buffer& owned() { return owned_.emplace_back(); }
  void keep_owned();

  /// The one value left; the stack and the memo are empty then.
  const PickleValue& finish();

 private:
  const std::size_t input_bytes_;
  std::deque<PickleNode> values_;  // a deque, so that they stay where they are
  std::deque<Buffer> owned_;
  std::size_t owned_bytes_ = 0;
  std::size_t pushes_ = 0;
  std::vector<PickleNode*> nodes_;
  std::vector<std::size_t> marks_;  // where in nodes_
  std::vector<PickleNode*> memo_;
  std::uint64_t remembered_ = 0;
};

}  // namespace feedrate::formats
