#pragma once
// IDX, the format of MNIST and its relatives: a big-endian header, then the bytes of an array.
//
//   00 00 08 nd | u32be × nd dimensions | u8 × their product, row by row
//   labels: nd = 1 (magic 2049), images: nd = 3 (magic 2051): count, height, width

#include <cstdint>
#include <string>
#include <vector>

#include "converters/archive.h"
#include "formats/pixels/image.h"

namespace feedrate::converters {

enum class IdxKind : std::uint8_t { images, labels };

struct IdxHeader {
  IdxKind kind = IdxKind::labels;
  std::uint64_t count = 0;
  formats::Shape shape;     // of one image; zero for labels
  std::uint64_t bytes = 0;  // header and data: what the file must hold
};

/// The header of the archive's current entry, of which nothing has been read. Throws Error naming
/// what was found instead of the magic, or the implausible dimension.
IdxHeader read_idx_header(Archive& entry);

/// The same, but also throws Error, naming what was found, unless the kind is `wanted`.
IdxHeader read_idx_header(Archive& entry, IdxKind wanted);

/// Reads the next image into `pixels` (header.shape.bytes()). Throws Error if image `index` is cut
/// off.
void read_idx_image(Archive& entry, const IdxHeader& header, std::uint64_t index,
                    formats::MutableBytes pixels);

/// Reads all labels, after the header. Throws Error if they are cut off.
std::vector<std::uint8_t> read_idx_labels(Archive& entry, const IdxHeader& header);

/// Throws Error if bytes follow the data.
void expect_idx_end(Archive& entry, const IdxHeader& header);

}  // namespace feedrate::converters
