#include "tools/lab/advise/candidate.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/base/without_slash.h"
#include "formats/crops/crop_index.h"
#include "formats/remote/url.h"
#include "tools/console/text.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;

namespace {

// Recipes usually crop 7/8 of the size that images were resized to: 224 of 256.
constexpr std::uint32_t usual_side = 256;
// Shrinking an image that is less than this much larger is not worth another encoding.
constexpr double min_shrink_ratio = 1.25;
// Images of at least this side count as photographs, for which a lossless codec takes several times
// the bytes of a JPEG.
constexpr std::uint64_t photograph_side = 128;

bool file_for_each_image(const DatasetInfo& info) { return info.files.empty(); }

// The container to convert to: the present one where it takes the codec and is not one file for
// each image.
const Container* container_for(const DatasetInfo& info, const Codec& codec) {
  for (const Container* const known : containers()) {
    if (known->name() == info.format && known->accepts(codec) && !file_for_each_image(info))
      return known;
  }
  return &container(&codec == &raw_codec ? "lmdb" : "recordio");
}

// True when the recipe's images have the same size whatever the size of the stored ones.
bool resizes(const Recipe& recipe, Shape stored) {
  Shape larger = stored;
  larger.height *= 2;
  larger.width *= 2;
  return recipe.shape(larger) == recipe.shape(stored);
}

std::optional<Resize> shrinking(const Survey& survey, const Recipe& recipe, Shape stored) {
  if (!resizes(recipe, stored)) return {};
  const Shape taken = recipe.shape(stored);
  const std::uint32_t side = std::max(usual_side, std::max(taken.height, taken.width) * 8 / 7);
  const auto shorter = std::min(survey.heights.median, survey.widths.median);
  if (static_cast<double>(shorter) < min_shrink_ratio * side) return {};
  return Resize{Resize::Fit::short_side, side, side};
}

}  // namespace

std::string Candidate::name() const {
  if (crops) return "the same files + crop index";
  std::string text = fmt::format("{} {}", container->name(), encoding.name());
  if (resize) text += fmt::format(" {}", resize->name());
  return text;
}

std::filesystem::path Candidate::out(const std::filesystem::path& dataset) const {
  std::string suffix = fmt::format("-{}", name());
  for (char& c : suffix) {
    if (c == ' ' || c == ':') c = '-';
  }
  const bool is_url = !formats::url_scheme(dataset.native()).empty();  // beside it, or here
  std::filesystem::path path =
      is_url ? without_slash(without_secrets(dataset.native())).filename()
             : without_slash(std::filesystem::absolute(dataset).lexically_normal());
  path += suffix;
  return path;
}

std::string Candidate::command(const std::filesystem::path& dataset) const {
  if (crops) return fmt::format("feedrate index {} --crops", shell_word(dataset.string()));
  std::string text = fmt::format("feedrate convert dataset {} --to {} --encode {}",
                                 shell_word(without_secrets(dataset.native())), container->name(),
                                 encoding.name());
  if (resize) text += fmt::format(" --resize {}", resize->name());
  return text + fmt::format(" --out {}", shell_word(out(dataset).string()));
}

std::vector<Candidate> candidates(const Dataset& dataset, const Survey& survey,
                                  const Recipe& recipe) {
  const DatasetInfo& info = dataset.info();
  std::vector<Candidate> found;
  const auto add = [&](const Codec* codec, int quality, std::optional<Resize> resize) {
    const Codec& written = codec != nullptr ? *codec : feedrate::formats::codec(info.codec);
    found.push_back({container_for(info, written), {codec, quality}, resize});
  };
  const bool photographs = std::max(info.shape.height, info.shape.width) >= photograph_side;
  const std::optional<Resize> smaller = shrinking(survey, recipe, info.shape);
  const bool raw = info.codec == raw_codec.name();
  const bool cropped = recipe.shape(info.shape) != info.shape;
  if (info.codec == jpeg_codec.name() && photographs && cropped && !info.is_remote() &&
      !find_crop_index(dataset).index) {
    found.push_back({&container(info.format), {}, {}, true});
  }
  if (file_for_each_image(info)) add(nullptr, 0, {});
  if (info.codec == jpeg_codec.name()) add(&packed_codec, 0, {});
  constexpr int quality = 90;
  if (photographs) {
    add(&jpeg_codec, quality, {});
    if (smaller) add(&jpeg_codec, quality, smaller);
  }
  if (smaller || !raw) add(&raw_codec, 0, smaller);
  return found;
}

}  // namespace feedrate::tools
