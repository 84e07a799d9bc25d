#pragma once
// The source of a CIFAR dataset: one class for both, told apart by their layout.

#include "converters/source.h"
#include "converters/sources/cifar_layout.h"

namespace feedrate::converters {

/// Reads a whole split into memory when it is opened (154 MB of the published ones): the batches of
/// an archive need not stand in order there. Samples are planes as published, in the order of the
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
