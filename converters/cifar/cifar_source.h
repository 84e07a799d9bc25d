#pragma once
// The source of a CIFAR dataset: one class for both, which differ in their layout.

#include "converters/cifar/cifar_layout.h"
#include "converters/source.h"

namespace feedrate::converters {

/// Opening a split reads all of it into memory (154 MB for the published ones), since the batches
/// in an archive may come in any order. Samples are planes as published, in the order of the
/// batches, without names: both packagings give the same samples.
class CifarSource final : public Source {
 public:
  CifarSource(const CifarLayout& layout, std::string_view summary)
      : Source(layout.source, summary), layout_(layout) {}

  std::vector<std::string> splits(std::span<const std::filesystem::path>) const override {
    return {"train", "test"};
  }
  std::unique_ptr<SampleStream> open(std::span<const std::filesystem::path> inputs,
                                     std::string_view split) const override;
  std::vector<std::filesystem::path> files(std::span<const std::filesystem::path> inputs,
                                           std::string_view split) const override;

 private:
  const CifarLayout& layout_;
};

}  // namespace feedrate::converters
