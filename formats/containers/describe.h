#pragma once
// What every container tells of a dataset that it has opened.

#include <algorithm>
#include <exception>

#include "formats/base/error.h"
#include "formats/dataset.h"

namespace feedrate::formats {
namespace detail {

/// The first sample that is not damaged, among a few: one bad sample, also when it is the first,
/// must not keep the others from being read. Throws the first one's Error where all are bad.
inline Sample first_readable(const Dataset& dataset, Scratch& scratch) {
  constexpr std::uint64_t most = 16;
  std::exception_ptr fault;
  for (std::uint64_t i = 0; i < std::min(most, dataset.size()); ++i) {
    try {
      return dataset.read(i, scratch);
    } catch (const Error&) {
      if (!fault) fault = std::current_exception();
    }
  }
  std::rethrow_exception(fault);
}

}  // namespace detail

/// Completes `info`, which has its path, format and size, from the sidecar and the first sample
/// that can be read. `first_image` gives the first sample's encoded bytes, or empty ones for raw
/// pixels. An image of a kind that no codec here knows may still be counted; reading its pixels is
/// what fails.
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
    // Reading the sample, below, says the same and where.
  }
  const Sample first = detail::first_readable(dataset, scratch);
  info.codec = first.codec->name();
  info.shape = first.shape;
}

}  // namespace feedrate::formats
