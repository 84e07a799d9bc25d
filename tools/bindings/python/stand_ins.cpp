// feedrate._native.standing_in: a dataset, some of whose samples are those of another.

#include <map>
#include <utility>
#include <vector>

#include "tools/bindings/python/native.hpp"

namespace feedrate::tools {
using namespace formats;

namespace nb = nanobind;

namespace {

/// Immutable; any thread.
class StandingIn final : public Dataset {
 public:
  /// Samples of `others` by the indices whose places they take, in order.
  StandingIn(std::shared_ptr<const Dataset> whole, std::shared_ptr<const Dataset> others,
             const std::vector<std::uint64_t>& indices)
      : whole_(std::move(whole)), others_(std::move(others)) {
    info_ = whole_->info();
    for (const std::uint64_t index : indices) places_.emplace(index, places_.size());
  }

  std::span<const std::shared_ptr<const Dataset>> members() const override {
    return whole_->members();
  }
  LocatedSample locate(std::uint64_t index) const override { return whole_->locate(index); }
  Sample read(std::uint64_t index, Scratch& scratch) const override {
    const auto found = places_.find(index);
    return found == places_.end() ? whole_->read(index, scratch)
                                  : others_->read(found->second, scratch);
  }
  std::int32_t label(std::uint64_t index, Scratch& scratch) const override {
    const auto found = places_.find(index);
    return found == places_.end() ? whole_->label(index, scratch)
                                  : others_->label(found->second, scratch);
  }
  bool look_ahead(std::uint64_t index) const override { return whole_->look_ahead(index); }
  void prefetch(std::span<const std::uint64_t> indices) const override {
    whole_->prefetch(indices);
  }
  SamplePlace place(std::uint64_t index) const override { return whole_->place(index); }
  void expect_unchanged() const override { whole_->expect_unchanged(); }

 private:
  std::shared_ptr<const Dataset> whole_, others_;
  std::map<std::uint64_t, std::uint64_t> places_;
};

OpenDataset standing_in(const OpenDataset& whole, const OpenDataset& others,
                        const nb::list& indices) {
  std::vector<std::uint64_t> places;
  for (const nb::handle index : indices) places.push_back(nb::cast<std::uint64_t>(index));
  return {std::make_shared<StandingIn>(whole.data, others.data, places), whole.members};
}

}  // namespace

void add_stand_ins(nb::module_& module) {
  module.def("standing_in", &standing_in, nb::arg("whole"), nb::arg("others"), nb::arg("indices"),
             nb::sig("def standing_in(whole: Dataset, others: Dataset, indices: list[int]) -> "
                     "Dataset"),
             "`whole`, whose samples at these indices are the samples of `others`, in order.");
}

}  // namespace feedrate::tools
