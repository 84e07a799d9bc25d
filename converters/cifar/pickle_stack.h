#pragma once
// Where a pickle's opcodes leave values for each other: a stack with marks, and a memo. Every bound
// on memory is here. Members throw formats::Error when a pickle asks for what is not there or for too much.
// For pickle.cpp; one thread.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "converters/cifar/pickle_value.h"
#include "formats/base/error.h"

namespace feedrate::converters {

class PickleStack {
 public:
  using Items = std::vector<const PickleValue*>;

  /// New values go into `values`.
  explicit PickleStack(std::deque<PickleValue>& values) : values_(values) {}

  PickleValue& push_new(PickleValue::Kind kind) {
    PickleValue& value = values_.emplace_back();
    value.kind = kind;
    push(&value);
    return value;
  }
  void push_mark() { push(nullptr); }

  /// Only what lies above the last mark can be reached.
  PickleValue& top() {
    if (stack_.empty() || stack_.back() == nullptr)
      throw formats::Error("needs a value where none is");
    return *stack_.back();
  }
  PickleValue& pop() {
    PickleValue& value = top();
    stack_.pop_back();
    return value;
  }
  Items pop(std::size_t count) {
    Items items(count);
    while (count > 0) items[--count] = &pop();
    return items;
  }
  /// Everything above the last mark, which goes as well.
  Items pop_to_mark() {
    const auto first = std::find(stack_.rbegin(), stack_.rend(), nullptr).base();
    if (first == stack_.begin()) throw formats::Error("needs a mark where none is");
    Items items(first, stack_.end());
    stack_.erase(first - 1, stack_.end());
    return items;
  }

  /// Keeps the top under a number, for recall().
  void remember(std::uint64_t number) {
    if (number >= max_pushes)
      throw formats::Error(formats::join("remembers a value as number ", number));
    PickleValue& value = top();
    if (number >= memo_.size()) memo_.resize(static_cast<std::size_t>(number) + 1);
    memo_[number] = &value;
  }
  void remember_next() { remember(memo_.size()); }
  void recall(std::uint64_t number) {
    if (number >= memo_.size() || memo_[number] == nullptr) {
      throw formats::Error(
          formats::join("recalls number ", number, ", which was never remembered"));
    }
    push(memo_[number]);
  }

  /// The one value left at the end.
  const PickleValue& last() const {
    if (stack_.size() != 1 || stack_.front() == nullptr) {
      throw formats::Error(
          formats::join("leaves ", stack_.size(), " values and marks where one value is expected"));
    }
    return *stack_.front();
  }

 private:
  // The 50,000 images of CIFAR-100 take a third of this at most.
  static constexpr std::size_t max_pushes = std::size_t{1} << 20;

  // Every value is pushed once or more, so this one count bounds all memory.
  void push(PickleValue* value) {
    if (++pushes_ > max_pushes)
      throw formats::Error(formats::join("holds more than ", max_pushes, " values"));
    stack_.push_back(value);
  }

  std::deque<PickleValue>& values_;
  std::vector<PickleValue*> stack_;  // null: a mark
  std::vector<PickleValue*> memo_;
  std::size_t pushes_ = 0;
};

}  // namespace feedrate::converters
