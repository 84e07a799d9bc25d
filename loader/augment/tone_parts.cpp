// Changes of colours without a random strength: torchvision's RandomGrayscale, RandomAutocontrast,
// RandomEqualize, RandomInvert, RandomPosterize, RandomSolarize and RandomAdjustSharpness.

#include <string>
#include <utility>

#include "loader/augment/tones.h"
#include "loader/augment/warp.h"
#include "loader/recipes/part.h"

namespace feedrate::loader {

namespace {

using Tone = void (*)(Canvas image, double strength, std::span<std::uint8_t> scratch);

class SomeToned final : public Operation {
 public:
  SomeToned(Tone tone, double share, double strength, std::string evaluation)
      : tone_(tone), share_(share), strength_(strength), evaluation_(std::move(evaluation)) {}

  std::size_t scratch_bytes(formats::Shape shape) const override { return shape.bytes(); }
  std::string evaluation() const override { return evaluation_; }
  void apply(Canvas image, Draws& draws, std::span<std::uint8_t> scratch) const override {
    if (draws.happens(share_)) tone_(image, strength_, scratch);
  }

 private:
  Tone tone_;
  double share_, strength_;
  std::string evaluation_;
};

Part toned(const ParameterValues& values, Tone tone, double strength = 0,
           const char* evaluation = "") {
  return {.operation =
              std::make_unique<SomeToned>(tone, values.number("share"), strength, evaluation)};
}

constexpr Parameter half{"share", Parameter::Type::number, 0, 1, {0.5}};
constexpr Parameter only_half[] = {half};
constexpr Parameter grey_parameters[] = {{"share", Parameter::Type::number, 0, 1, {0.1}}};
constexpr Parameter posterize_parameters[] = {{"bits", Parameter::Type::whole, 1, 8, {4}}, half};
constexpr Parameter solarize_parameters[] = {{"threshold", Parameter::Type::number, 0, 256, {128}},
                                             half};
constexpr Parameter sharpness_parameters[] = {{"factor", Parameter::Type::number, 0, 100, {2}},
                                              half};

const PartKind random_grey_row(
    "random-grey", "Greyscale with three channels, for this share of the images", PartStage::pixels,
    grey_parameters, [](const ParameterValues& values) -> Part {
      const auto grey = [](Canvas image, double, auto) { adjust_saturation(image, 0); };
      // What all images undergo is no matter of chance.
      return toned(values, grey, 0, values.number("share") == 1 ? "random-grey:share=1" : "");
    });

const PartKind autocontrast_row(
    "autocontrast",
    "Autocontrast: each channel stretched to 0 ... 255, for this share of the images",
    PartStage::pixels, only_half, [](const ParameterValues& values) -> Part {
      return toned(values, [](Canvas image, double, auto) { autocontrast(image); });
    });

const PartKind equalize_row("equalize",
                            "Histogram equalisation of each channel, for this share of the images",
                            PartStage::pixels, only_half,
                            [](const ParameterValues& values) -> Part {
                              return toned(values,
                                           [](Canvas image, double, auto) { equalize(image); });
                            });

const PartKind invert_row("invert", "Inverted values, for this share of the images",
                          PartStage::pixels, only_half, [](const ParameterValues& values) -> Part {
                            return toned(values,
                                         [](Canvas image, double, auto) { solarize(image, 0); });
                          });

const PartKind posterize_row(
    "posterize", "Posterise: only the upper bits of each value, for this share of the images",
    PartStage::pixels, posterize_parameters, [](const ParameterValues& values) -> Part {
      const auto posterized = [](Canvas image, double bits, auto) {
        posterize(image, static_cast<int>(bits));
      };
      return toned(values, posterized, values.number("bits"));
    });

const PartKind solarize_row(
    "solarize", "Solarise: values from the threshold up inverted, for this share of the images",
    PartStage::pixels, solarize_parameters, [](const ParameterValues& values) -> Part {
      return toned(
          values, [](Canvas image, double threshold, auto) { solarize(image, threshold); },
          values.number("threshold"));
    });

const PartKind sharpness_row(
    "sharpness", "Sharpened by a factor, or smoothed by one below 1, for this share of the images",
    PartStage::pixels, sharpness_parameters, [](const ParameterValues& values) -> Part {
      const auto sharpened = [](Canvas image, double factor, std::span<std::uint8_t> scratch) {
        adjust_sharpness(image, static_cast<float>(factor), scratch);
      };
      return toned(values, sharpened, values.number("factor"));
    });

}  // namespace

extern const PartKind &random_grey_part, &autocontrast_part, &equalize_part, &invert_part,
    &posterize_part, &solarize_part, &sharpness_part;
const PartKind& random_grey_part = random_grey_row;
const PartKind& autocontrast_part = autocontrast_row;
const PartKind& equalize_part = equalize_row;
const PartKind& invert_part = invert_row;
const PartKind& posterize_part = posterize_row;
const PartKind& solarize_part = solarize_row;
const PartKind& sharpness_part = sharpness_row;

}  // namespace feedrate::loader
