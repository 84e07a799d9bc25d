#pragma once
// What a recipe does to pixels behind its views: operations change an image of a batch, mixers a
// whole batch. Stateless; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "formats/pixels/image.h"
#include "loader/batch.h"
#include "loader/order/draws.h"

namespace feedrate::loader {

/// An image of a batch: 1 or 3 channels, channels last.
struct Canvas {
  std::uint8_t* pixels;
  formats::Shape shape;

  std::span<std::uint8_t> all() const { return {pixels, shape.bytes()}; }
};

/// The draws of part k of a recipe, from 1, begin at k times this; its views use those before.
inline constexpr std::uint32_t draws_of_a_part = 1U << 16;
/// The draws of a batch are those of its first position in the epoch, from this one on.
inline constexpr std::uint32_t draws_of_a_batch = 1U << 31;

class Operation {
 public:
  virtual ~Operation() = default;
  /// The shape of what apply() makes of such an image: no fewer bytes.
  virtual formats::Shape shape(formats::Shape before) const { return before; }
  /// How much memory apply() needs for such an image, in bytes.
  virtual std::size_t scratch_bytes(formats::Shape) const { return 0; }
  /// The recipe's part that evaluation has instead, as text; "": none.
  virtual std::string evaluation() const { return ""; }
  /// A pure function of the pixels and the draws. `scratch` is at least scratch_bytes(shape) long;
  /// behind the image's pixels there is room for those of shape().
  virtual void apply(Canvas image, Draws& draws, std::span<std::uint8_t> scratch) const = 0;
};

class Mixer {
 public:
  virtual ~Mixer() = default;
  /// Mixes every image of the batch with its partner's as it was, and returns Batch::own_share. A
  /// pure function of the batch and the draws. `scratch` holds an image.
  virtual double mix(const Batch& batch, Draws& draws, std::span<std::byte> scratch) const = 0;
};

}  // namespace feedrate::loader
