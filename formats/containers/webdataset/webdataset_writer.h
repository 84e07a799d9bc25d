#pragma once
// Writes <split>-000000.tar … and, beside each, its index <split>-000000.idx.

#include <memory>

#include "formats/dataset.h"

namespace feedrate::formats {

std::unique_ptr<Writer> make_webdataset_writer(const std::filesystem::path& directory,
                                               const WriterOptions& options);

/// True for names that the writer gives to samples: the index in eight digits or more. They say
/// nothing that the sample's place does not.
bool is_index_key(std::string_view key);

}  // namespace feedrate::formats
