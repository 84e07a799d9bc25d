#pragma once
// Any dataset on disk as a stream of samples: what converting from one format to another reads.

#include <memory>

#include "converters/source.h"
#include "formats/dataset.h"

namespace feedrate::converters {

/// `dataset`'s samples in its own order, with their names, labels, boxes and encoded bytes.
std::unique_ptr<SampleStream> open_dataset_stream(std::unique_ptr<formats::Dataset> dataset);

/// The input as the sidecar names it: a dataset is known by its own digest, not by a file's hash.
formats::Sidecar::Input dataset_input(const std::filesystem::path& path);

}  // namespace feedrate::converters
