#pragma once
// Samples that another program sends through pipes, as `feedrate.write` of the Python package does. A
// file of JSON describes them, which has a name of its own in every run; so its `identity` stands for
// what they are.
//
//   {"split": "train", "origin": "mine", "samples": 60000, "pixels": false, "identity": "…",
//    "classes": 2, "class_names": ["cat", "dog"], "asks": "/proc/self/fd/5", "pipes": ["/proc/self/fd/6", …]}
//
// Once it wants samples, the converter writes the index of the first one into `asks`, as u64. From
// there on each comes through the next pipe in turn, so that several processes can make them:
//
//   u32 kind    0: no more samples, 1: an encoded image, 2: pixels (u8 HWC), 3: the sender gives up
//   i32 label
//   u32 height, width, channels    of the image, if it is sent as pixels
//   u32 bytes of the name
//   u64 bytes of the image
//   the name, then the image
//
// All numbers are little-endian. A pipe that ends before that is a sender which was stopped.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "converters/source.h"

namespace feedrate::converters {

struct PipedSamples {
  std::string split;
  std::string origin;
  std::string identity;
  std::uint64_t samples = 0;  // 0: not known beforehand
  bool pixels = false;        // every sample is pixels; otherwise every one is an encoded image
  std::uint32_t classes = 0;
  std::vector<std::string> class_names;
  std::filesystem::path asks;
  std::vector<std::filesystem::path> pipes;
};

/// Throws Error where the file does not hold such a description.
PipedSamples read_piped_samples(const std::filesystem::path& file);

/// The samples, in order and once; it can seek before the first.
std::unique_ptr<SampleStream> open_sample_pipes(PipedSamples samples);

}  // namespace feedrate::converters
