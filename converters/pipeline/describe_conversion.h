#pragma once
// What a conversion writes beside its samples: the sidecar, the crop index, and the purpose that its
// journal is for.

#include "converters/convert.h"
#include "converters/pipeline/journal.h"
#include "formats/base/sweep.h"

namespace feedrate::converters {

/// The option of a conversion that did not check the JPEGs it kept.
inline constexpr std::string_view no_check_option = "--no-check";

/// The result of a conversion with this tally and these digests.
Conversion result_of(const Tally& tally, const formats::RunningDigest::Result& digests);
/// Of an earlier conversion, which wrote this sidecar.
Conversion result_of(const formats::Sidecar& sidecar);

/// A sidecar with the origin of the dataset and its options, but without its inputs.
formats::Sidecar describe(const Source& source, const ConvertTarget& target,
                          const ConvertOptions& options, const StreamInfo& info);
/// What tells the datasets of two conversions apart, as a sentence: "has '--encode png', not
/// '--encode jpeg'"; "" if nothing does. Compares split, format, options and inputs.
std::string difference(const formats::Sidecar& found, const formats::Sidecar& wanted);
/// Adds what the dataset holds.
void complete(formats::Sidecar& sidecar, const Tally& tally, const Conversion& conversion);
/// After complete(), adds what only the whole dataset shows: the number of classes, if the source did not
/// state it, and which images were encoded anew or left out. Not to be called for a part.
void complete_whole(formats::Sidecar& sidecar, const Conversion& conversion);

/// Throws Error where a dataset that several runs have made does not hold all samples that its sidecar
/// states: a file was removed between them.
void expect_described(const std::filesystem::path& directory, const formats::Sidecar& sidecar);

/// Makes the crop index in the directory of a dataset that is whole but for its sidecar, if the
/// sidecar's options ask for it. Where no image could have an entry, a note in the sidecar says so.
void add_crop_index(const std::filesystem::path& directory, formats::Sidecar& sidecar,
                    unsigned threads, const formats::ProgressCallback& progress = {});

/// One line for each thing that determines the result: source, options, inputs (name,
/// size, time; of a directory, what it lists).
std::vector<std::string> purpose_of(const Source& source,
                                    std::span<const std::filesystem::path> inputs,
                                    const ConvertTarget& target, const ConvertOptions& options);
/// The lines of a purpose that are the same for all parts of a conversion: without the part itself
/// and the times of the inputs, of which each machine may have its own copy.
std::vector<std::string> common_purpose(const std::vector<std::string>& purpose);

}  // namespace feedrate::converters
