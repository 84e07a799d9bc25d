#pragma once
// Decodes batches of packed JPEGs (PixelType::packed) on a device, to the pixels that the loader's
// threads would give, bit for bit.

#include <cstddef>
#include <cstdint>
#include <span>

#include "loader/batch.h"

namespace feedrate::trainer {

/// Images and bytes of all batches so far.
struct DecodeCounts {
  std::uint64_t images = 0;
  std::uint64_t packed = 0;     // of these, decoded on the device; the loader's threads decoded the
                                // others
  std::uint64_t too_large = 0;  // of the others, packed JPEGs that did not fit into their seats
  std::uint64_t uploads = 0;    // copies to the device
  std::uint64_t uploaded_bytes = 0;  // packed bytes, pixels and what describes them
  bool operator==(const DecodeCounts&) const = default;
};

/// One thread calls it.
class ImageDecoder {
 public:
  virtual ~ImageDecoder() = default;
  /// Uploads a batch of the shape and the seats that the decoder was made for, and starts to decode
  /// it. The caller may reuse the batch when this returns. The loader fills seats with sound blocks
  /// alone; should a block of an earlier batch be none when the device reads it, this throws an
  /// Error that names the sample.
  virtual void decode(const loader::Batch& batch) = 0;
  /// Waits, and returns the pixels of the last batch as a Batch of u8 has them. They stay valid
  /// until the next call. Throws Error as decode() does, for all batches.
  virtual std::span<const std::byte> pixels() = 0;
  /// Waits until all batches are decoded. Throws Error as pixels() does.
  virtual void wait() = 0;
  const DecodeCounts& counts() const { return counts_; }

 protected:
  DecodeCounts counts_;
};

/// What a decoder is made for.
struct DecoderSize {
  formats::Shape shape;        // of each image of a batch
  std::uint32_t batch = 0;     // images of a batch, at most
  std::size_t seat_bytes = 0;  // Batch::seat_bytes
};

}  // namespace feedrate::trainer
