#pragma once
// What a loader hands to a trainer, and where its pixels live.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/pixels/image.h"
#include "loader/pixels/pixel_scale.h"

namespace feedrate::loader {

/// How a batch holds its images.
enum class PixelType : std::uint8_t {
  u8,   // as pixels, 0 … 255, channels last (HWC): what goes to a device, which makes the numbers
  f32,  // as numbers, (pixel - mean) × scale, channel by channel (CHW): what a CPU computes with
  f16,  // the same, rounded to the nearest half
};

inline constexpr PixelType pixel_types[] = {PixelType::u8, PixelType::f32, PixelType::f16};

constexpr std::size_t bytes_of(PixelType type) {
  return type == PixelType::f32 ? 4 : type == PixelType::f16 ? 2 : 1;
}
constexpr std::string_view name(PixelType type) {
  return type == PixelType::f32 ? "f32" : type == PixelType::f16 ? "f16" : "u8";
}

struct Batch {
  std::uint64_t number = 0;  // counts through all epochs, from 0
  std::uint64_t epoch = 0;
  std::uint32_t count = 0;         // images in it: the batch size, less in an epoch's last one
  formats::Shape shape;            // of each image
  std::span<std::uint8_t> pixels;  // count × shape, u8 HWC, one image after the other (type u8)
  std::span<std::int32_t> labels;  // count
  bool last_of_epoch = false;

  // Instead of pixels, which are empty then: count × shape, CHW, one image after the other.
  PixelType type = PixelType::u8;
  std::span<float> floats{};          // f32
  std::span<std::uint16_t> halves{};  // f16: its bits
  PixelScales scales{};               // that they were made with

  /// All images, whatever their type.
  std::span<std::byte> bytes() const {
    if (type == PixelType::f32) return std::as_writable_bytes(floats);
    if (type == PixelType::f16) return std::as_writable_bytes(halves);
    return std::as_writable_bytes(pixels);
  }
  /// They begin at `first`; the type, the count and the shape say how many there are.
  void set_bytes(std::byte* first) {
    const std::size_t size = count * shape.bytes();
    pixels = {};
    floats = {};
    halves = {};
    if (type == PixelType::f32) {
      floats = {reinterpret_cast<float*>(first), size};
    } else if (type == PixelType::f16) {
      halves = {reinterpret_cast<std::uint16_t*>(first), size};
    } else {
      pixels = {reinterpret_cast<std::uint8_t*>(first), size};
    }
  }
};

/// Anything batches come from. One consumer thread.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// The next batch, or null at the end. It stays valid, and its slot in use, until the next call.
  virtual const Batch* next() = 0;
  virtual formats::Shape shape() const = 0;
  virtual std::uint32_t batch_size() const = 0;
};

/// Where slots get their pixel memory: plain by default, pinned when the trainer is a GPU.
class PixelMemory {
 public:
  virtual ~PixelMemory() = default;
  /// At least `bytes` bytes, 64-byte aligned, every page touched. Throws Error when there are none.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void release(std::byte* memory, std::size_t bytes) noexcept = 0;
};
PixelMemory& plain_memory();

}  // namespace feedrate::loader
