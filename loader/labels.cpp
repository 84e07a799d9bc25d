#include "loader/labels.h"

#include <algorithm>

#include "formats/base/error.h"
#include "formats/io/late_bytes.h"

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr std::int32_t none = -1;

std::int32_t checked_label(const Dataset& dataset, std::uint64_t index, Scratch& scratch) {
  const std::int32_t label = dataset.label(index, scratch);
  if (label < 0) fail(dataset.info().path, "sample ", index, ": label ", label, " is no class");
  return label;
}

}  // namespace

std::string Labels::note() const {
  if (bad.empty()) return {};
  return join(bad.size(), bad.size() == 1 ? " sample has" : " samples have",
              " no label that can be read, and no epoch holds ", bad.size() == 1 ? "it" : "them",
              "; the first: ", bad.front().reason);
}

Labels labels_of(const Dataset& dataset, BadPolicy policy, std::uint64_t budget) {
  Labels labels;
  labels.of_samples.reserve(dataset.size());
  detail::BadList bad(dataset, budget);
  Scratch scratch;
  forget_failed_late_bytes();
  for (std::uint64_t index = 0; index < dataset.size(); ++index) {
    std::int32_t label = none;
    try {
      label = checked_label(dataset, index, scratch);
    } catch (const Error& error) {
      if (policy == BadPolicy::fail || late_bytes_failed()) throw;
      detail::Fault fault{0, index, "", reason_with_place(dataset, index, "", error)};
      bad.add({&fault, 1});
    }
    labels.of_samples.push_back(label);
    labels.classes = std::max(labels.classes, static_cast<std::uint32_t>(label + 1));
  }
  labels.bad = bad.samples();
  return labels;
}

}  // namespace feedrate::loader
