#pragma once
// A dataset with part of its samples kept in memory, still encoded.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "formats/dataset.h"

namespace feedrate::loader {

/// Keeps the samples that are read first, until `bytes` bytes are full, and never lets one go for
/// another: in data that are read whole once an epoch the one let go would be wanted as soon as the
/// one that came. So with half of the data kept, half is read from disk each epoch, where a cache
/// of the least recently used keeps nothing of use. Samples are the same as those of `from`, which
/// must outlive it. Any thread, as every dataset.
class SampleCache final : public formats::Dataset {
 public:
  SampleCache(const formats::Dataset& from, std::uint64_t bytes);
  ~SampleCache() override;
  SampleCache(const SampleCache&) = delete;
  SampleCache& operator=(const SampleCache&) = delete;

  formats::Sample read(std::uint64_t index, formats::Scratch& scratch) const override;
  bool look_ahead(std::uint64_t index) const override;
  formats::SamplePlace place(std::uint64_t index) const override { return from_.place(index); }
  void expect_unchanged() const override { from_.expect_unchanged(); }
  void audit(const std::function<void(formats::Finding)>& found) const override {
    from_.audit(found);
  }

  std::uint64_t bytes_kept() const { return used_.load(std::memory_order_relaxed); }
  std::uint64_t samples_kept() const { return kept_.load(std::memory_order_relaxed); }

 private:
  struct Kept;
  const Kept* keep(std::uint64_t index, const formats::Sample& sample) const;

  const formats::Dataset& from_;
  const std::uint64_t most_;
  const std::unique_ptr<std::atomic<const Kept*>[]> slots_;  // one a sample, null until it is kept
  mutable std::atomic<std::uint64_t> used_{0};
  mutable std::atomic<std::uint64_t> kept_{0};
  mutable std::atomic<bool> full_{false};
};

}  // namespace feedrate::loader
