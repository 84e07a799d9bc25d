#pragma once
// What all containers do alike to describe a dataset that they have opened.

#include <exception>

#include "formats/base/error.h"
#include "formats/dataset.h"
#include "formats/io/late_bytes.h"

namespace feedrate::formats {
namespace detail {

/// The first that can be read of some samples, at the beginning and then all over the dataset: damage,
/// even of the very first, must not make the others unreadable. Throws the first sample's Error when all
/// are damaged, and that of a server that fails: the others are there, too.
inline Sample first_readable(const Dataset& dataset, Scratch& scratch) {
  constexpr std::uint64_t tries = 16;  // of each
  const std::uint64_t size = dataset.size();
  std::exception_ptr fault;
  forget_failed_late_bytes();
  for (std::uint64_t i = 0; i < 2 * tries; ++i) {
    const std::uint64_t index = i < tries ? i : size - 1 - (i - tries) * (size / tries);
    if (index >= size) continue;
    try {
      return dataset.read(index, scratch);
    } catch (const Error&) {
      if (late_bytes_failed()) throw;
      if (!fault) fault = std::current_exception();
    }
  }
  std::rethrow_exception(fault);
}

}  // namespace detail

/// Completes `info`, which has its path, format and size, from the sidecar and the first readable
/// sample. `first_image` returns the first sample's encoded bytes, or none for raw pixels. A
/// dataset of images that no codec here knows can be opened and counted; only reading its samples
/// fails.
template <class FirstImage>
void complete_info(DatasetInfo& info, const Dataset& dataset, const FirstImage& first_image) {
  info.sidecar = read_sidecar(info.path);
  if (info.sidecar) {
    info.classes = info.sidecar->classes;
    info.class_names = info.sidecar->class_names;
  }
  Scratch scratch;
  try {
    const Bytes image = first_image();
    const std::string_view kind = looks_like(image);
    if (!kind.empty() && codec_of(image) == nullptr) {
      info.codec = join("unknown: ", kind);
      return;
    }
  } catch (const Error&) {
    // Reading the sample, below, reports the same with its place.
  }
  const Sample first = detail::first_readable(dataset, scratch);
  info.codec = first.codec->name();
  info.shape = first.shape;
}

}  // namespace feedrate::formats
