#pragma once
// What a conversion writes about itself: the sidecar, and the purpose a journal is kept for.

#include "converters/convert.h"
#include "converters/pipeline/journal.h"

namespace feedrate::converters {

/// What a conversion that has come this far gave.
Conversion result_of(const Tally& tally);

/// Where the dataset comes from and how it is made; not yet the inputs.
formats::Sidecar describe(const Source& source, std::string_view split,
                          const formats::Container& container, const ConvertOptions& options,
                          const StreamInfo& info);
/// Adds what it holds.
void complete(formats::Sidecar& sidecar, const Tally& tally, const Conversion& conversion);

/// One line for each thing that shapes the result: source, inputs (name, size, time), options.
std::vector<std::string> purpose_of(const Source& source,
                                    std::span<const std::filesystem::path> inputs,
                                    std::string_view split, const formats::Container& container,
                                    const ConvertOptions& options);

}  // namespace feedrate::converters
