#pragma once
// Makes archives in the packaging of a published dataset, for tests and stress tests: learnable,
// and the same bytes for the same seed on every machine.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "formats/base/kind.h"

namespace feedrate::converters {

class MadeImages;

struct SynthOptions {
  std::uint64_t images = 6000;  // of the training split; the other is in proportion
  std::uint64_t seed = 1;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

class Synth : public formats::Kind {
 public:
  /// The number of training images, and how many of them there are for each image of the other
  /// split.
  struct Limits {
    std::uint64_t min, max, train_per_test;
  };
  /// Writes the archives into a directory. Throws Error if a write fails.
  using Make = void (*)(const std::filesystem::path& directory, MadeImages& images);

  Synth(std::string_view name, std::string_view summary, Limits its_limits, Make its_make)
      : formats::Kind(name, summary), limits(its_limits), make(its_make) {}

  const Limits limits;
  const Make make;
};

/// All of them, in the order of help.
std::span<const Synth* const> synths();
const Synth& synth(std::string_view name);

/// `feedrate synth`: makes the archives in `<out>.partial`, then renames it. Throws Error for a
/// number of images outside `limits`; nothing is then left under `out`.
void make_archives(const Synth& synth, const std::filesystem::path& out,
                   const SynthOptions& options);

}  // namespace feedrate::converters
