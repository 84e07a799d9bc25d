#pragma once
// Makes archives in the packaging of a published dataset, for tests and stress: learnable, and the
// same bytes for the same seed on every machine.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "formats/base/kind.h"

namespace feedrate::converters {

struct SynthOptions {
  std::uint64_t images = 6000;  // of the training split; the others follow the original's shares
  std::uint64_t seed = 1;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

class Synth : public formats::Kind {
 public:
  using formats::Kind::Kind;
  /// Writes the files into `directory`, which exists. Throws Error when the disk refuses.
  virtual void make(const std::filesystem::path& directory, const SynthOptions& options) const = 0;
};

/// All of them, in the order of help.
std::span<const Synth* const> synths();
const Synth& synth(std::string_view name);

/// `feedrate synth`: makes the archives in `<out>.partial`, then renames. Nothing is left under
/// `out` when it throws.
void make_archives(const Synth& synth, const std::filesystem::path& out,
                   const SynthOptions& options);

}  // namespace feedrate::converters
