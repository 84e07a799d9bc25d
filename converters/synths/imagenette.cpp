#include <string>

#include "converters/synths/made_folder.h"
#include "converters/synths/made_tar.h"
#include "formats/base/error.h"
#include "formats/io/gzip.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr std::string_view ten_wnids[] = {"n01440764", "n02102040", "n02979186", "n03000684",
                                          "n03028079", "n03394916", "n03417042", "n03425413",
                                          "n03445777", "n03888257"};

void make_imagenette(const std::filesystem::path& directory, MadeImages& images) {
  const unsigned classes = made_classes(images, std::size(ten_wnids));
  std::string list = "path,noisy_labels_0,is_valid\n";
  write_made_tar<GzipFile>(directory / "imagenette2.tgz", [&](auto& tar) {
    for (const MadeSplit split : {MadeSplit::train, MadeSplit::test}) {
      const bool valid = split == MadeSplit::test;
      make_photographs(images, split, classes,
                       [&](unsigned label, std::uint64_t number, Bytes jpeg) {
                         const std::string path = join(valid ? "val/" : "train/", ten_wnids[label],
                                                       "/", ten_wnids[label], "_", number, ".JPEG");
                         tar.add("imagenette2/" + path, jpeg);
                         list += join(path, ",", ten_wnids[label], valid ? ",True\n" : ",False\n");
                       });
    }
    tar.add("imagenette2/noisy_imagenette.csv", as_bytes(list));
  });
}

const Synth imagenette_row("imagenette",
                           "drawn scenes in Imagenette's tar of ten classes: N to train, N/2 to "
                           "val",
                           {2, 1'000'000, 2}, make_imagenette);

}  // namespace

const Synth& imagenette_synth = imagenette_row;

}  // namespace feedrate::converters
