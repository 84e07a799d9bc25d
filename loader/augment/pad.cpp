#include <algorithm>
#include <utility>

#include "formats/base/error.h"
#include "loader/augment/colour.h"
#include "loader/recipes/part.h"

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr std::string_view pad_modes[] = {"constant", "edge", "reflect", "symmetric"};
enum class PadMode : std::uint8_t { constant, edge, reflect, symmetric };

struct Margins {
  std::uint32_t left, top, right, bottom;
};

/// torchvision's Pad.
class Pad final : public Operation {
 public:
  Pad(Margins margins, PadMode mode, Colour colour, std::string text)
      : margins_(margins), mode_(mode), colour_(colour), text_(std::move(text)) {}

  Shape shape(Shape before) const override {
    if (!before.plausible()) return before;  // not stated
    expect_room(std::max(margins_.left, margins_.right), before.width, "wide");
    expect_room(std::max(margins_.top, margins_.bottom), before.height, "high");
    return {before.height + margins_.top + margins_.bottom,
            before.width + margins_.left + margins_.right, before.channels};
  }
  std::size_t scratch_bytes(Shape shape) const override { return shape.bytes(); }
  std::string evaluation() const override { return join("pad", text_.empty() ? "" : ":", text_); }

  void apply(Canvas image, Draws&, std::span<std::uint8_t> scratch) const override {
    const Shape before = image.shape, after = shape(before);
    std::copy_n(image.pixels, before.bytes(), scratch.data());
    std::uint8_t* to = image.pixels;
    for (std::int64_t y = 0; y < after.height; ++y) {
      const auto row = source(y - margins_.top, before.height);
      const std::uint8_t* const from =
          row < 0 ? nullptr
                  : scratch.data() + static_cast<std::size_t>(row) * before.width * before.channels;
      to = put_row(from, before, to);
    }
  }

 private:
  // A reflection reaches no further than to the other edge.
  void expect_room(std::uint32_t margin, std::uint32_t side, const char* how) const {
    const std::uint32_t most = mode_ == PadMode::reflect ? side - 1 : side;
    if (mode_ == PadMode::constant || mode_ == PadMode::edge || margin <= most) return;
    throw Error(join("recipe pad: an image ", side, " pixels ", how, " has no ", margin,
                     " pixels beside its edge to reflect"));
  }

  // Where a pixel comes from; -1: it is of the colour.
  std::int64_t source(std::int64_t at, std::int64_t side) const {
    if (at >= 0 && at < side) return at;
    switch (mode_) {
      case PadMode::edge:
        return at < 0 ? 0 : side - 1;
      case PadMode::reflect:
        return at < 0 ? -at : 2 * side - 2 - at;
      case PadMode::symmetric:
        return at < 0 ? -1 - at : 2 * side - 1 - at;
      case PadMode::constant:
        break;
    }
    return -1;
  }

  // `from`: null for a row of the colour.
  std::uint8_t* put_row(const std::uint8_t* from, Shape before, std::uint8_t* to) const {
    const std::size_t channels = before.channels;
    const auto put = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t x = begin; x < end; ++x) {
        const std::int64_t column = from == nullptr ? -1 : source(x, before.width);
        const std::uint8_t* const pixel =
            column < 0 ? colour_.data() : from + static_cast<std::size_t>(column) * channels;
        to = std::copy_n(pixel, channels, to);
      }
    };
    put(-std::int64_t{margins_.left}, from == nullptr ? before.width : 0);
    if (from != nullptr) to = std::copy_n(from, before.width * channels, to);
    put(before.width, std::int64_t{before.width} + margins_.right);
    return to;
  }

  Margins margins_;
  PadMode mode_;
  Colour colour_;
  std::string text_;
};

constexpr Parameter margin(const char* name) {
  return {name, Parameter::Type::whole, 0, 8192, {0}};
}
constexpr Parameter pad_parameters[] = {
    {"all", Parameter::Type::whole, 0, 8192, {4}},
    margin("left"),
    margin("top"),
    margin("right"),
    margin("bottom"),
    word_parameter("mode", pad_modes),
    colour_value,
    colour_green,
    colour_blue,
};

const PartKind pad_row(
    "pad", "Padding on all sides, or left, top, right and bottom; with a colour or mirrored",
    PartStage::pixels, pad_parameters, [](const ParameterValues& values) -> Part {
      const auto side = [&](const char* name) {
        return values.whole(values.is_given(name) ? name : "all");
      };
      const Margins margins{side("left"), side("top"), side("right"), side("bottom")};
      return {.operation =
                  std::make_unique<Pad>(margins, static_cast<PadMode>(values.whole("mode")),
                                        colour_of(values), values.text())};
    });

}  // namespace

extern const PartKind& pad_part;
const PartKind& pad_part = pad_row;

}  // namespace feedrate::loader
