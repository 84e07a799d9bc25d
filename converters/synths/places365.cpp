#include <string>

#include "converters/synths/made_folder.h"
#include "converters/synths/made_imagenet.h"
#include "converters/synths/made_tar.h"
#include "formats/base/error.h"
#include "formats/io/file.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr unsigned place_classes = 365;
constexpr Shape easy_format{256, 256, 3};

std::string eight_digits(std::uint64_t number) {
  return std::to_string(100'000'000 + number).substr(1);
}

void make_places365(const std::filesystem::path& directory, MadeImages& images) {
  const unsigned classes = made_classes(images, place_classes);
  const auto draw = [](unsigned look, Draws draws) {
    return draw_photograph(look, easy_format, draws);
  };
  write_made_tar<OutputFile>(directory / "places365standard_easyformat.tar", [&](auto& tar) {
    for (const MadeSplit split : {MadeSplit::train, MadeSplit::test}) {
      const std::string root = split == MadeSplit::train ? "train" : "val";
      const std::string_view prefix = split == MadeSplit::train ? "" : "Places365_val_";
      std::string list;
      const auto take = [&](unsigned label, std::uint64_t number, Bytes jpeg) {
        const std::string path = join(root, "/", name_of_class(label, classes), "/", prefix,
                                      eight_digits(number + 1), ".jpg");
        tar.add("places365_standard/" + path, jpeg);
        list += path + '\n';
      };
      make_folder(images, split, {classes, draw, take});
      tar.add(join("places365_standard/", root, ".txt"), as_bytes(list));
    }
  });
}

const Synth places365_row("places365",
                          "drawn scenes of 256 by 256 in Places365's tar: N to train, N/49 to val",
                          {2, 2'000'000, 49}, make_places365);

}  // namespace

const Synth& places365_synth = places365_row;

}  // namespace feedrate::converters
