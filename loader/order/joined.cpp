#include "loader/order/joined.h"

#include <algorithm>
#include <utility>

#include "formats/base/error.h"

namespace feedrate::loader {
using namespace formats;

namespace {

// As many as the labels that can be read need, where a dataset does not state its classes.
std::uint32_t least_classes(const Dataset& dataset) {
  Scratch scratch;
  std::int32_t largest = -1;
  for (std::uint64_t i = 0; i < dataset.size(); ++i) {
    try {
      largest = std::max(largest, dataset.label(i, scratch));
    } catch (const Error&) {  // a bad sample, reported when it is read
    }
  }
  return static_cast<std::uint32_t>(largest) + 1;
}

void expect_same_classes(const DatasetInfo& one, const Dataset& dataset) {
  const DatasetInfo& other = dataset.info();
  const bool stated = other.classes != 0 || one.classes == 0;
  const std::uint32_t classes = stated ? other.classes : least_classes(dataset);
  if (stated ? classes != one.classes : classes > one.classes) {
    fail(other.path, stated ? "has " : "has labels of ", classes, " classes, but ",
         one.path.string(), " has ", one.classes, ": a mix needs the same");
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

Joined::Joined(std::vector<std::shared_ptr<const Dataset>> members) : members_(std::move(members)) {
  if (members_.empty()) throw Error("mix: it names no dataset");
  info_ = members_.front()->info();
  info_.sidecar.reset();
  // The first whose names are known, or at least their number.
  const auto first = [&](const auto& knows) {
    return std::ranges::find_if(members_, [&](const auto& one) { return knows(one->info()); });
  };
  auto told = first([](const DatasetInfo& info) { return !info.class_names.names.empty(); });
  if (told == members_.end())
    told = first([](const DatasetInfo& info) { return info.classes != 0; });
  const DatasetInfo& witness = (told == members_.end() ? members_.front() : *told)->info();
  info_.classes = witness.classes;
  std::string name;
  info_.files.clear();
  std::uint64_t begin = 0;
  for (const auto& member : members_) {
    const DatasetInfo& info = member->info();
    expect_same_classes(witness, *member);
    name += join(name.empty() ? "" : " + ", info.path);
    if (info.is_remote()) info_.stand_in = info.stand_in;
    info_.files.insert(info_.files.end(), info.files.begin(), info.files.end());
    if (info_.class_names.names.empty()) info_.class_names = info.class_names;
    if (info.format != info_.format) info_.format = "mix";
    if (info.codec != info_.codec) info_.codec = "mixed";
    begins_.push_back(begin);
    begin += info.size;
    hints_ = hints_ || (info.size > 0 && member->look_ahead(0));
  }
  info_.path = name;
  info_.size = begin;
}

LocatedSample Joined::locate(std::uint64_t index) const {
  const auto member =
      static_cast<std::size_t>(std::ranges::upper_bound(begins_, index) - begins_.begin() - 1);
  return {*members_[member], member, index - begins_[member]};
}

Sample Joined::read(std::uint64_t index, Scratch& scratch) const {
  const LocatedSample found = locate(index);
  return found.dataset.read(found.index, scratch);
}

std::int32_t Joined::label(std::uint64_t index, Scratch& scratch) const {
  const LocatedSample found = locate(index);
  return found.dataset.label(found.index, scratch);
}

bool Joined::look_ahead(std::uint64_t index) const {
  const LocatedSample found = locate(index);
  found.dataset.look_ahead(found.index);
  return hints_;
}

void Joined::prefetch(std::span<const std::uint64_t> indices) const {
  for (const std::uint64_t index : indices) {
    const LocatedSample found = locate(index);
    found.dataset.prefetch({&found.index, 1});
  }
}

SamplePlace Joined::place(std::uint64_t index) const {
  const LocatedSample found = locate(index);
  return found.dataset.place(found.index);
}

void Joined::expect_unchanged() const {
  for (const auto& member : members_) member->expect_unchanged();
}

Bytes Joined::details(std::uint64_t index, Scratch& scratch) const {
  const LocatedSample found = locate(index);
  return found.dataset.details(found.index, scratch);
}

void Joined::expect_as_written(std::uint64_t index, const Sample& sample) const {
  const LocatedSample found = locate(index);
  found.dataset.expect_as_written(found.index, sample);
}

std::optional<std::vector<std::uint64_t>> Joined::written_order() const {
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto order = members_[i]->written_order();
    if (!order) return std::nullopt;
    for (std::uint64_t at = 0; at < members_[i]->size(); ++at)
      all.push_back(begins_[i] + (order->empty() ? at : (*order)[at]));
  }
  return all;
}

}  // namespace feedrate::loader
