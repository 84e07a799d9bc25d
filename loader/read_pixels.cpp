#include "loader/read_pixels.h"

#include <string>
#include <utility>

#include "formats/base/lost_pages.h"
#include "formats/io/late_bytes.h"
#include "loader/bad.h"

namespace feedrate::loader {
using namespace formats;

namespace {

// What the bytes just read lack, as a sentence naming the file; empty where they are whole.
std::string lost_pages(const Dataset& dataset) {
  // Asked for here, or the next reader in this thread would be told.
  std::string lost = lost_pages_of_thread();
  if (!lost.empty() || lost_pages_so_far() == 0) return lost;
  try {
    dataset.expect_unchanged();  // a page is reported missing once; read again, it holds zeros
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

Sample read_pixels(const Dataset& dataset, std::uint64_t index, Scratch& scratch, Buffer& pixels) {
  Sample sample;
  std::string problem;
  forget_failed_late_bytes();
  try {
    sample = dataset.read(index, scratch);
    if (!sample.shape.plausible()) throw Error("its size is not plausible");
    decode(sample, grown(pixels, sample.shape.bytes()));
  } catch (const Error& error) {
    problem = reason_with_place(dataset, index, "", error);
  }
  std::string key(sample.name);
  if (std::string lost = lost_pages(dataset); !lost.empty()) problem = std::move(lost);
  if (problem.empty()) return sample;
  throw SampleError({.place = dataset.place(index),
                     .index = index,
                     .key = std::move(key),
                     .reason = std::move(problem)},
                    !late_bytes_failed());
}

}  // namespace feedrate::loader
