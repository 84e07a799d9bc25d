#pragma once
// Several datasets as one, one after the other.

#include <memory>
#include <span>
#include <vector>

#include "formats/dataset.h"

namespace feedrate::loader {

/// The first image stands for all, as in any dataset. Any thread, as its members.
class Joined final : public formats::Dataset {
 public:
  /// Throws Error where there are none, and where their numbers or names of classes differ.
  explicit Joined(std::vector<std::shared_ptr<const formats::Dataset>> members);

  std::span<const std::shared_ptr<const formats::Dataset>> members() const override {
    return members_;
  }
  formats::LocatedSample locate(std::uint64_t index) const override;

  formats::Sample read(std::uint64_t index, formats::Scratch& scratch) const override;
  std::int32_t label(std::uint64_t index, formats::Scratch& scratch) const override;
  bool look_ahead(std::uint64_t index) const override;
  void prefetch(std::span<const std::uint64_t> indices) const override;
  formats::SamplePlace place(std::uint64_t index) const override;
  void expect_unchanged() const override;
  formats::Bytes details(std::uint64_t index, formats::Scratch& scratch) const override;
  void expect_as_written(std::uint64_t index, const formats::Sample& sample) const override;
  std::optional<std::vector<std::uint64_t>> written_order() const override;

 private:
  std::vector<std::shared_ptr<const formats::Dataset>> members_;
  std::vector<std::uint64_t> begins_;  // of each member
  bool hints_ = false;                 // help at least one of them
};

}  // namespace feedrate::loader
