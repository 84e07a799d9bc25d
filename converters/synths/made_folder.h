#pragma once
// The images of a made folder with a directory for each class.

#include <functional>
#include <string>

#include "converters/synths/made_images.h"

namespace feedrate::converters {

/// The classes of a made folder: of about 50 training images each, at least two where there are two
/// images, and at most `most`.
unsigned made_classes(const MadeImages& images, unsigned most);

/// What a class looks like, as draw_photograph() takes it: spread over all looks.
unsigned look_of_class(unsigned label, unsigned classes);
/// What its images show, for a name: "square_500".
std::string name_of_class(unsigned label, unsigned classes);

/// Takes an image and its number in the split, from 0.
using TakeOfClass = std::function<void(unsigned label, std::uint64_t number, formats::Bytes jpeg)>;

struct MadeFolder {
  unsigned classes = 0;
  /// An image of a look.
  std::function<formats::Buffer(unsigned look, Draws draws)> draw;
  TakeOfClass take;
};

/// Makes all images of a split, class by class, about as many of each.
void make_folder(MadeImages& images, MadeSplit split, const MadeFolder& folder);
/// As make_folder(), but the images look like ImageNet's photographs.
void make_photographs(MadeImages& images, MadeSplit split, unsigned classes,
                      const TakeOfClass& take);

}  // namespace feedrate::converters
