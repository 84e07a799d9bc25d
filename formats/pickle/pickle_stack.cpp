#include "formats/pickle/pickle_stack.h"

#include <algorithm>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t max_pushes = std::size_t{1} << 22;  // ImageNet's keys are a third of that
constexpr unsigned max_levels = 64;                       // a level is a list in a list

}  // namespace

void PickleStack::push(PickleNode& node) {
  if (++pushes_ > max_pushes) throw Error(join("holds more than ", max_pushes, " values"));
  nodes_.push_back(&node);
}

PickleNode& PickleStack::push_new(PickleValue::Kind kind) {
  PickleNode& node = values_.emplace_back();
  node.kind = kind;
  push(node);
  return node;
}

PickleNode& PickleStack::top() {
  if (nodes_.empty() || at_mark()) throw Error("needs a value where none is");
  return *nodes_.back();
}

PickleNode& PickleStack::pop() {
  PickleNode& node = top();
  nodes_.pop_back();
  return node;
}

void PickleStack::mark() {
  if (++pushes_ > max_pushes) throw Error(join("holds more than ", max_pushes, " values"));
  marks_.push_back(nodes_.size());
}

std::vector<PickleNode*> PickleStack::pop_to_mark() {
  if (marks_.empty()) throw Error("needs a mark where none is");
  const auto from = nodes_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleNode*> above(from, nodes_.end());
  nodes_.erase(from, nodes_.end());
  marks_.pop_back();
  return above;
}

void PickleStack::expect_outside(const PickleNode& node) {
  if (node.inside) throw Error("changes a value that is inside another one by now");
}

void PickleStack::put_into(PickleNode& container, PickleValue::Kind kind,
                           std::span<PickleNode* const> nodes) {
  if (container.kind != kind) {
    throw Error(join("expects ", kind_name(kind), ", finds ", kind_name(container.kind)));
  }
  expect_outside(container);
  for (PickleNode* node : nodes) {
    if (node == &container) throw Error("puts a value into itself");
    container.levels = std::max(container.levels, node->levels + 1);
    if (container.levels > max_levels) {
      throw Error(join("nests values deeper than ", max_levels, " levels"));
    }
    node->inside = true;
    container.items.push_back(node);
  }
}

void PickleStack::remember(std::uint64_t key) {
  // Whoever writes pickles counts what is remembered, and every value takes a byte.
  if (key >= std::min(input_bytes_, max_pushes)) {
    throw Error(join("remembers a value as number ", key, " in ", input_bytes_, " bytes"));
  }
  PickleNode& node = top();
  if (key >= memo_.size()) memo_.resize(static_cast<std::size_t>(key) + 1);
  if (memo_[key] == nullptr) ++remembered_;
  memo_[key] = &node;
}

void PickleStack::recall(std::uint64_t key) {
  if (key >= memo_.size() || memo_[key] == nullptr) {
    throw Error(join("recalls number ", key, ", which was never remembered"));
  }
  push(*memo_[key]);
}

void PickleStack::keep_owned() {
  // A text converted once is never longer than the input; one converted again and again can be.
  owned_bytes_ += owned_.back().size();
  if (owned_bytes_ > input_bytes_) throw Error("converts the same text again and again");
  if (owned_.back().empty()) owned_.pop_back();
}

const PickleValue& PickleStack::finish() {
  if (!marks_.empty() || nodes_.size() != 1) {
    throw Error(join("leaves ", nodes_.size(), " values and ", marks_.size(),
                     " marks where one value is expected"));
  }
  const PickleNode& value = pop();
  memo_ = {};
  return value;
}

}  // namespace feedrate::formats
