#pragma once
// The crop index of a conversion that keeps or makes JPEGs.

#include "formats/base/sweep.h"
#include "formats/container.h"
#include "formats/sidecar.h"

namespace feedrate::converters {

/// Makes it in the directory of a dataset that is whole but for its sidecar, if the sidecar's options
/// ask for it. Where no image could have an entry, a note in the sidecar says so.
void add_crop_index(const std::filesystem::path& directory, formats::Sidecar& sidecar,
                    unsigned threads, const formats::ProgressCallback& progress = {});

}  // namespace feedrate::converters
