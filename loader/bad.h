#pragma once
// Samples that cannot be read, decoded or augmented, and what becomes of their seats.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "formats/dataset.h"

namespace feedrate::loader {

/// All but `fail` leave every batch a pure function of the options and the data: the same at any
/// number of threads, damage included.
enum class BadPolicy : std::uint8_t {
  fail,     // an Error from the next() that would give its batch
  replace,  // another sample takes its seat, drawn by (seed, epoch, index)
  skip,     // its seat is left out: the batch is smaller, the others keep theirs
};

struct BadSample {
  formats::SamplePlace place;
  std::uint64_t index = 0;  // in the dataset
  std::string key;          // the sample's name; empty where it has none or it could not be read
  std::string reason;
};

/// A list for people and scripts: a line each, file, offset, index, key and reason with tabs
/// between them. Throws Error when the file cannot be written.
void write_quarantine(const std::filesystem::path& file, std::span<const BadSample> samples);

namespace detail {

/// A seat whose sample is bad, as a worker tells it.
struct Fault {
  std::uint32_t seat = 0;
  std::uint64_t index = 0;
  std::string key;
  std::string reason;
};

/// The bad samples met so far, each once. Told by the consumer, batch by batch and seat by seat, so
/// that neither the list nor the moment when the budget is used up depends on timing.
class BadList {
 public:
  BadList(const formats::Dataset& dataset, std::uint64_t budget)
      : dataset_(dataset), budget_(budget) {}
  /// Throws Error when these are more than the budget allows.
  void add(std::span<Fault> faults);
  const std::vector<BadSample>& samples() const { return samples_; }

 private:
  const formats::Dataset& dataset_;
  std::uint64_t budget_;
  std::vector<BadSample> samples_;
};

}  // namespace detail
}  // namespace feedrate::loader
