#pragma once
// What every container tells of a dataset that it has opened.

#include "formats/dataset.h"
#include "formats/error.h"

namespace feedrate {

/// Completes `info`, which has its path, format and size, from the sidecar and the first sample.
/// `first_image` gives that sample's encoded bytes, or empty ones for raw pixels. An image of a
/// kind that no codec here knows may still be counted; reading its pixels is what fails.
template <class FirstImage>
void complete_info(DatasetInfo& info, const Dataset& dataset, const FirstImage& first_image) {
  info.sidecar = read_sidecar(info.path);
  if (info.sidecar) {
    info.classes = info.sidecar->classes;
    info.class_names = info.sidecar->class_names;
  }
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
  Scratch scratch;
  const Sample first = dataset.read(0, scratch);
  info.codec = first.codec->name();
  info.shape = first.shape;
}

}  // namespace feedrate
