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

/// The header of the archive's current entry, of which nothing has been read. Throws Error saying
/// what was found where the magic should be, or which dimension makes no sense.
IdxHeader read_idx_header(Archive& entry);

/// Throws Error unless `entry` holds `wanted`; also names what it is then.
IdxHeader read_idx_header(Archive& entry, IdxKind wanted);

/// The next image into `pixels` (header.shape.bytes()). Throws Error when image `index` is cut off.
void read_idx_image(Archive& entry, const IdxHeader& header, std::uint64_t index,
                    formats::MutableBytes pixels);

/// All labels, after the header.
std::vector<std::uint8_t> read_idx_labels(Archive& entry, const IdxHeader& header);

/// Throws Error when bytes follow the data.
void expect_idx_end(Archive& entry, const IdxHeader& header);

}  // namespace feedrate::converters
