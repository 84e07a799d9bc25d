#pragma once
// Writes an LMDB of Datums as Caffe's tools do: the same keys and values, and for small images the
// same batches of a transaction and size of the map, hence the same pages.
//
//   samples                                          key          colour of raw images
//   with a name                                      %08d_name    planes B, G, R (convert_imageset)
//   raw 32×32×3 without one, fewer than 100,000      %05d         planes R, G, B
//   (convert_cifar_data) others without one                               %08d         planes R, G,
//   B (convert_mnist_data)
//
// The first sample decides on the number of digits, for all. Five of them need to know beforehand
// that there are few (Sharding::samples or WriterOptions::last): 100000 would come before 99999.

#include <filesystem>
#include <memory>

#include "formats/dataset.h"

namespace feedrate::formats {

/// `data` is the file to make (no lock file is left beside it), or to go on with.
std::unique_ptr<Writer> make_lmdb_writer(const std::filesystem::path& data,
                                         const WriterOptions& options);

}  // namespace feedrate::formats
