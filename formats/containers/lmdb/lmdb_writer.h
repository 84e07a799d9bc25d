#pragma once
// Writes an LMDB of Datums as Caffe's tools do: the same keys and values, and for small images the
// same batches and map size, hence the same pages.
//
//   samples                                          key          planes of raw colour images
//   with a name                                      %08d_name    B, G, R (convert_imageset)
//   raw 32×32×3 without one, fewer than 100,000      %05d         R, G, B (convert_cifar_data)
//   others without one                               %08d         R, G, B (convert_mnist_data)
//
// The first sample decides the number of digits for all. Five digits need a known, small number of
// samples (Sharding::samples or WriterOptions::last): the key 100000 would sort before 99999.

#include <filesystem>
#include <memory>

#include "formats/dataset.h"

namespace feedrate::formats {

/// `data` is the file to create or to resume. No lock file is left beside it.
std::unique_ptr<Writer> make_lmdb_writer(const std::filesystem::path& data,
                                         const WriterOptions& options);

}  // namespace feedrate::formats
