#pragma once
// How batches of PixelType::packed become pixels on a device for whoever knows the loader alone, such
// as Python's module: what a backend's plug-in, libfeedrate_<name>.so, exports beside the backend.
// Both sides are built from one tree by one compiler; nothing is thrown from one into the other.

#include <cstddef>
#include <cstdint>
#include <string>

#include "loader/batch.h"

namespace feedrate::loader {

/// What a decoder is made for.
struct DeviceDecoderSize {
  int device = 0;              // as the device's own library counts: cuda:0, cuda:1 …
  formats::Shape shape;        // of each image of a batch
  std::uint32_t batch = 0;     // images of a batch, at most
  std::size_t seat_bytes = 0;  // Batch::seat_bytes
};

/// Functions of a plug-in. Each returns null, or a sentence that says what went wrong, which stays
/// valid until the next call by the same thread. The calling thread's current device stays as it is.
/// One thread at a time may use a decoder.
struct DeviceDecoding {
  /// Makes a decoder, to be given to close().
  const char* (*open)(const DeviceDecoderSize& size, void** decoder);
  /// Uploads a batch, and queues its decoding on `stream`, a stream of the device (null: its default
  /// one), into `pixels`: device memory for count × shape u8 values, channels last, which what is
  /// queued on the stream already may still use. The caller may reuse the batch when this returns. The
  /// values are those that the loader's threads would have given. Fails where a block of an earlier
  /// batch was damaged when the device read it, and names the sample.
  const char* (*decode)(void* decoder, const Batch& batch, std::byte* pixels, void* stream);
  /// Waits until all batches are decoded. Fails as decode() does.
  const char* (*wait)(void* decoder);
  /// Waits, and frees the decoder.
  void (*close)(void* decoder);
};

/// What must be equal on both sides: the version, a space, the compiler and the sizes of the types.
const std::string& device_decoder_abi();

/// What a plug-in exports.
using DeviceDecoderAbiFunction = const char* (*)();
using DeviceDecodingFunction = const DeviceDecoding* (*)();
inline constexpr const char *device_decoder_abi_symbol = "feedrate_device_decoder_abi",
                            *device_decoding_symbol = "feedrate_device_decoding";

}  // namespace feedrate::loader
