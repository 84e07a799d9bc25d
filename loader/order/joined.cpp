#include "loader/order/joined.h"

#include <algorithm>
#include <utility>

#include "formats/base/error.h"

namespace feedrate::loader {
using namespace formats;

namespace {

void expect_same_classes(const DatasetInfo& one, const DatasetInfo& other) {
  if (one.classes != other.classes) {
    fail(other.path, "has ", other.classes, " classes, but ", one.path.string(), " has ",
         one.classes, ": a mix needs the same");
  }
  const auto& names = one.class_names.names;
  const auto& others = other.class_names.names;
  if (names.empty() || others.empty()) return;
  const auto [here, there] = std::ranges::mismatch(names, others);
  if (here == names.end() && there == others.end()) return;
  const auto text = [](const auto& at, const auto& all) {
    return at == all.end() ? std::string("not there") : join("'", *at, "'");
  };
  fail(other.path, "class ", here - names.begin(), " is ", text(there, others), ", but in ",
       one.path.string(), " it is ", text(here, names), ": a mix needs the same");
}

}  // namespace

Joined::Joined(std::vector<std::shared_ptr<const Dataset>> parts) : parts_(std::move(parts)) {
  if (parts_.empty()) throw Error("mix: it names no dataset");
  info_ = parts_.front()->info();
  info_.sidecar.reset();
  std::string name;
  info_.files.clear();
  std::uint64_t begin = 0;
  for (const auto& part : parts_) {
    const DatasetInfo& info = part->info();
    // With the first whose names are known: those without are no witnesses.
    const auto named = std::ranges::find_if(
        parts_, [](const auto& other) { return !other->info().class_names.names.empty(); });
    expect_same_classes((named == parts_.end() ? parts_.front() : *named)->info(), info);
    name += join(name.empty() ? "" : " + ", info.path.string());
    info_.files.insert(info_.files.end(), info.files.begin(), info.files.end());
    if (info_.class_names.names.empty()) info_.class_names = info.class_names;
    if (info.format != info_.format) info_.format = "mix";
    if (info.codec != info_.codec) info_.codec = "mixed";
    begins_.push_back(begin);
    begin += info.size;
    hints_ = hints_ || (info.size > 0 && part->look_ahead(0));
  }
  info_.path = name;
  info_.size = begin;
}

std::size_t Joined::part_of(std::uint64_t index) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(begins_, index) - begins_.begin() - 1);
}

Joined::Found Joined::find(std::uint64_t index) const {
  const std::size_t which = part_of(index);
  return {*parts_[which], index - begins_[which]};
}

Sample Joined::read(std::uint64_t index, Scratch& scratch) const {
  const Found found = find(index);
  return found.part.read(found.index, scratch);
}

bool Joined::look_ahead(std::uint64_t index) const {
  const Found found = find(index);
  found.part.look_ahead(found.index);
  return hints_;
}

void Joined::prefetch(std::span<const std::uint64_t> indices) const {
  for (const std::uint64_t index : indices) {
    const Found found = find(index);
    found.part.prefetch({&found.index, 1});
  }
}

SamplePlace Joined::place(std::uint64_t index) const {
  const Found found = find(index);
  return found.part.place(found.index);
}

void Joined::expect_unchanged() const {
  for (const auto& part : parts_) part->expect_unchanged();
}

Bytes Joined::details(std::uint64_t index, Scratch& scratch) const {
  const Found found = find(index);
  return found.part.details(found.index, scratch);
}

void Joined::expect_as_written(std::uint64_t index, const Sample& sample) const {
  const Found found = find(index);
  found.part.expect_as_written(found.index, sample);
}

std::optional<std::vector<std::uint64_t>> Joined::written_order() const {
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto order = parts_[i]->written_order();
    if (!order) return std::nullopt;
    for (std::uint64_t at = 0; at < parts_[i]->size(); ++at)
      all.push_back(begins_[i] + (order->empty() ? at : (*order)[at]));
  }
  return all;
}

}  // namespace feedrate::loader
