#include "converters/synths/made_folder.h"

#include <algorithm>

#include "converters/synths/made_imagenet.h"
#include "converters/synths/scenes.h"
#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

unsigned made_classes(const MadeImages& images, unsigned most) {
  constexpr std::uint64_t images_per_class = 50;
  const std::uint64_t train = images.count(MadeSplit::train);
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>(train / images_per_class, std::min<std::uint64_t>(train, 2), most));
}

unsigned look_of_class(unsigned label, unsigned classes) { return label * scene_classes / classes; }

std::string name_of_class(unsigned label, unsigned classes) {
  const unsigned look = look_of_class(label, classes);
  return join(form_name(look_of(look).form), "_", look);
}

void make_folder(MadeImages& images, MadeSplit split, const MadeFolder& folder) {
  const std::uint64_t count = images.count(split);
  for (unsigned label = 0; label < folder.classes; ++label) {
    const unsigned look = look_of_class(label, folder.classes);
    images.make(
        split, count * label / folder.classes, count * (label + 1) / folder.classes,
        [&](std::uint64_t, Draws draws) { return folder.draw(look, draws); },
        [&](std::uint64_t number, Bytes jpeg) { folder.take(label, number, jpeg); });
  }
}

void make_photographs(MadeImages& images, MadeSplit split, unsigned classes,
                      const TakeOfClass& take) {
  const auto draw = [](unsigned look, Draws draws) { return draw_photograph(look, draws); };
  make_folder(images, split, {classes, draw, take});
}

}  // namespace feedrate::converters
