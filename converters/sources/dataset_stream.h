#pragma once
// Any dataset on disk as a stream of samples: the input of a conversion between formats.

#include <memory>

#include "converters/source.h"
#include "formats/dataset.h"

namespace feedrate::converters {

/// `dataset`'s samples in its own order, with their names, labels, boxes and encoded bytes.
std::unique_ptr<SampleStream> open_dataset_stream(std::unique_ptr<formats::Dataset> dataset);

/// The input as the sidecar lists it: its name and size, without a hash. A dataset has its own
/// digest.
formats::Sidecar::Input dataset_input(const std::filesystem::path& path);

}  // namespace feedrate::converters
