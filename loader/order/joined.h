#pragma once
// Several datasets as one, one after the other.

#include <memory>
#include <span>
#include <vector>

#include "formats/dataset.h"

namespace feedrate::loader {

/// The first image stands for all, as in any dataset. Any thread, as its parts.
class Joined final : public formats::Dataset {
 public:
  /// Throws Error where there are none, and where their numbers or names of classes differ.
  explicit Joined(std::vector<std::shared_ptr<const formats::Dataset>> parts);

  struct Found {
    const formats::Dataset& part;
    std::uint64_t index;  // there
  };
  /// Where the sample at `index` comes from.
  Found find(std::uint64_t index) const;
  /// The number of that part.
  std::size_t part_of(std::uint64_t index) const;
  std::span<const std::shared_ptr<const formats::Dataset>> parts() const { return parts_; }

  formats::Sample read(std::uint64_t index, formats::Scratch& scratch) const override;
  bool look_ahead(std::uint64_t index) const override;
  void prefetch(std::span<const std::uint64_t> indices) const override;
  formats::SamplePlace place(std::uint64_t index) const override;
  void expect_unchanged() const override;
  formats::Bytes details(std::uint64_t index, formats::Scratch& scratch) const override;
  void expect_as_written(std::uint64_t index, const formats::Sample& sample) const override;
  std::optional<std::vector<std::uint64_t>> written_order() const override;

 private:
  std::vector<std::shared_ptr<const formats::Dataset>> parts_;
  std::vector<std::uint64_t> begins_;  // of each part
  bool hints_ = false;                 // help at least one of them
};

}  // namespace feedrate::loader
