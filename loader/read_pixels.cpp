#include "loader/read_pixels.h"

#include <string>
#include <utility>

#include "formats/io/lost_pages.h"
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
  std::string problem;
  try {
    sample = dataset.read(index, scratch);
    if (!sample.shape.plausible()) throw Error("its size is not plausible");
    decode(sample, grown(pixels, sample.shape.bytes()));
  } catch (const Error& error) {
    problem = with_place(dataset, index, error.what());
  }
  std::string key(sample.name);
  // Asked for here, or the next reader in this thread would be told.
  if (std::string lost = lost_pages_of_thread(); !lost.empty()) problem = std::move(lost);
  if (problem.empty()) return sample;
  throw SampleError({.place = dataset.place(index),
                     .index = index,
                     .key = std::move(key),
                     .reason = std::move(problem)});
}

}  // namespace feedrate::loader
