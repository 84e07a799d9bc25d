#pragma once
// The images of one run of a synth, drawn in parallel and taken in order.

#include <functional>

#include "converters/synth.h"
#include "converters/synths/picture.h"

namespace feedrate::converters {

enum class MadeSplit : std::uint8_t { train, test };

/// For one thread, which calls make(); `draw` runs on all of them.
class MadeImages {
 public:
  using Draw = std::function<formats::Buffer(std::uint64_t index, Draws draws)>;
  using Take = std::function<void(std::uint64_t index, formats::Bytes image)>;

  MadeImages(const SynthOptions& options, std::uint64_t test) : options_(options), test_(test) {}

  std::uint64_t seed() const { return options_.seed; }
  std::uint64_t count(MadeSplit split) const {
    return split == MadeSplit::train ? options_.images : test_;
  }
  /// The random numbers of an image.
  Draws draws(MadeSplit split, std::uint64_t index) const {
    return {options_.seed, static_cast<std::uint64_t>(split), index};
  }
  /// Draws the images [first, last) in parallel and passes them to `take` one by one, in order.
  void make(MadeSplit split, std::uint64_t first, std::uint64_t last, const Draw& draw,
            const Take& take);

 private:
  const SynthOptions& options_;
  const std::uint64_t test_;
  std::uint64_t done_ = 0;
};

}  // namespace feedrate::converters
