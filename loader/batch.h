#pragma once
// What a loader hands to a trainer, and where the memory of its pixels comes from.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/pixels/image.h"
#include "loader/pixels/pixel_scale.h"

namespace feedrate::loader {

/// How a batch holds its images.
enum class PixelType : std::uint8_t {
  u8,      // pixels, 0 … 255; the device turns them into numbers
  f32,     // numbers, (pixel - mean) × scale: what a CPU computes with
  f16,     // the same, rounded to the nearest half
  packed,  // JPEGs still packed, for a device that decodes: seats, as pixels/packed_seat.h has them
};

/// Those that hold values.
inline constexpr PixelType pixel_types[] = {PixelType::u8, PixelType::f32, PixelType::f16};

constexpr std::size_t bytes_of(PixelType type) {
  return type == PixelType::f32 ? 4 : type == PixelType::f16 ? 2 : 1;
}
constexpr std::string_view name(PixelType type) {
  switch (type) {
    case PixelType::f32:
      return "f32";
    case PixelType::f16:
      return "f16";
    case PixelType::packed:
      return "packed";
    case PixelType::u8:
      break;
  }
  return "u8";
}

/// In which order a batch holds the values of an image.
enum class PixelLayout : std::uint8_t {
  interleaved,  // channels last (HWC): a pixel's values side by side
  planar,       // channels first (CHW): a plane for each channel
};

/// What numbers are divided by, (pixel - mean) ÷ deviation, channel by channel, where a product with
/// 1 ÷ deviation would differ in its last bit. 0: none.
using PixelDeviations = std::array<float, own_scales>;

/// What trainers of this project take.
constexpr PixelLayout usual_layout(PixelType type) {
  const bool numbers = type == PixelType::f32 || type == PixelType::f16;
  return numbers ? PixelLayout::planar : PixelLayout::interleaved;
}
/// As frameworks call it, for a whole batch.
constexpr std::string_view name(PixelLayout layout) {
  return layout == PixelLayout::planar ? "nchw" : "nhwc";
}

struct Batch {
  std::uint64_t number = 0;  // from 0, through all epochs
  std::uint64_t epoch = 0;
  std::uint32_t count = 0;             // images: the batch size, fewer in an epoch's last batch
  formats::Shape shape;                // of each image
  std::span<std::uint8_t> pixels;      // type u8: count × shape, image after image
  std::span<std::int32_t> labels;      // count
  std::span<std::uint64_t> indices{};  // count: which sample is where; empty in a Replay
  bool last_of_epoch = false;
  /// The share of each image, and of its label, that is its own: 1 unless the recipe mixes batches.
  /// The rest is that of partner().
  double own_share = 1;
  /// The seat with which a seat is mixed: the one before it; for the first, the last.
  std::uint32_t partner(std::uint32_t seat) const {
    return own_share == 1 ? seat : seat == 0 ? count - 1 : seat - 1;
  }

  // For the other types, `pixels` is empty and one of these holds count × shape.
  PixelType type = PixelType::u8;
  PixelLayout layout = PixelLayout::interleaved;  // of each image
  std::span<float> floats{};          // f32
  std::span<std::uint16_t> halves{};  // f16, as bits
  PixelScales scales{};               // that made the numbers
  std::span<std::byte> seats{};       // packed: count × seat_bytes
  std::size_t seat_bytes = 0;

  /// All images, whatever their type.
  std::span<std::byte> bytes() const {
    if (type == PixelType::f32) return std::as_writable_bytes(floats);
    if (type == PixelType::f16) return std::as_writable_bytes(halves);
    if (type == PixelType::packed) return seats;
    return std::as_writable_bytes(pixels);
  }
  /// Sets the span of `type` to count × shape values, or count seats, from `first` on, and empties
  /// the others.
  void set_bytes(std::byte* first) {
    const std::size_t size = count * shape.bytes();
    pixels = {};
    floats = {};
    halves = {};
    seats = {};
    if (type == PixelType::f32) {
      floats = {reinterpret_cast<float*>(first), size};
    } else if (type == PixelType::f16) {
      halves = {reinterpret_cast<std::uint16_t*>(first), size};
    } else if (type == PixelType::packed) {
      seats = {first, count * seat_bytes};
    } else {
      pixels = {reinterpret_cast<std::uint8_t*>(first), size};
    }
  }
};

/// Anything that yields batches. One consumer thread.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// The next batch, or null at the end. It stays valid until the next call.
  virtual const Batch* next() = 0;
  virtual formats::Shape shape() const = 0;
  virtual std::uint32_t batch_size() const = 0;
};

/// Alignment of pixel memory, and of what a slot holds in it: a cache line.
inline constexpr std::size_t pixel_alignment = formats::cache_line;

/// Where slots get their memory: plain by default, pinned when the trainer runs on a GPU.
class PixelMemory {
 public:
  virtual ~PixelMemory() = default;
  /// At least `bytes` bytes, aligned to `pixel_alignment`, every page touched. Throws Error when
  /// there is not enough memory.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void release(std::byte* memory, std::size_t bytes) noexcept = 0;
};
/// Memory of the process, in huge pages where the kernel grants them. Any thread.
PixelMemory& plain_memory();

}  // namespace feedrate::loader
