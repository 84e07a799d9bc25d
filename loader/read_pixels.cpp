#include "loader/read_pixels.h"

#include "loader/bad.h"

namespace feedrate::loader {
using namespace formats;

namespace {

// Readers name the file and the sample themselves; decoders know neither.
std::string with_place(const Dataset& dataset, std::uint64_t index, std::string_view what) {
  const std::string path = dataset.info().path.string();
  if (what.find(path) != std::string_view::npos) return std::string(what);
  return join(path, ": sample ", index, ": ", what);
}

}  // namespace

Sample read_pixels(const Dataset& dataset, std::uint64_t index, Scratch& scratch, Buffer& pixels) {
  Sample sample;
  try {
    sample = dataset.read(index, scratch);
    if (!sample.shape.plausible()) throw Error("its size is not plausible");
    decode(sample, grown(pixels, sample.shape.bytes()));
  } catch (const Error& error) {
    throw SampleError({.place = dataset.place(index),
                       .index = index,
                       .key = std::string(sample.name),
                       .reason = with_place(dataset, index, error.what())});
  }
  return sample;
}

}  // namespace feedrate::loader
