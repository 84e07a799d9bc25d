#pragma once
// Writes shards of tf.Examples: "train-00000-of-00004" and, for DALI, "train-00000-of-00004.idx"
// beside it; gzip shards end in ".gz" and have no index. The split "val" is named "validation", as
// TensorFlow's tools expect. labels.txt names the classes where the records do not.
//
// A gzip shard is written plain first and compressed when it is full, so that a killed writer can
// be resumed with the same bytes as result. It takes its plain size on disk for a while.

#include <filesystem>
#include <memory>

#include "formats/dataset.h"

namespace feedrate::formats {

/// slim's list of classes, with a line "0:airplane" for each.
inline constexpr std::string_view class_names_file = "labels.txt";

std::unique_ptr<Writer> make_tfrecord_writer(const std::filesystem::path& directory,
                                             const WriterOptions& options);

}  // namespace feedrate::formats
