#include <string>

#include "converters/synths/made_folder.h"
#include "converters/synths/made_imagenet.h"
#include "converters/synths/zip_writer.h"
#include "formats/base/error.h"
#include "formats/base/imagenet_classes.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr std::string_view tiny_root = "tiny-imagenet-200/";
constexpr unsigned tiny_classes = 200;
constexpr Shape tiny{64, 64, 3};

Buffer draw_tiny(unsigned look, Draws draws) { return draw_photograph(look, tiny, draws); }

// Not the published two hundred, but as many wnids of ImageNet.
const std::string& wnid_of(unsigned label) {
  return imagenet_wnids()[label * imagenet_classes / tiny_classes];
}

void make_tiny_train(ZipWriter& zip, MadeImages& images, unsigned classes) {
  std::string boxes;
  unsigned of_boxes = 0;
  const auto write_boxes = [&] {
    zip.add(join(tiny_root, "train/", wnid_of(of_boxes), "/", wnid_of(of_boxes), "_boxes.txt"),
            as_bytes(boxes));
    boxes.clear();
  };
  make_folder(images, MadeSplit::train,
              {classes, draw_tiny, [&](unsigned label, std::uint64_t number, Bytes jpeg) {
                 if (label != of_boxes) write_boxes();
                 of_boxes = label;
                 const std::string name = join(wnid_of(label), "_", number, ".JPEG");
                 zip.add(join(tiny_root, "train/", wnid_of(label), "/images/", name), jpeg);
                 boxes += join(name, "\t0\t0\t62\t63\n");
               }});
  write_boxes();
}

// All in one directory, in any order of classes.
void make_tiny_val(ZipWriter& zip, MadeImages& images, unsigned classes) {
  const auto label_of = [&](std::uint64_t i) {
    return below(random_bits(images.seed(), i), classes);
  };
  std::string annotations;
  images.make(
      MadeSplit::test, 0, images.count(MadeSplit::test),
      [&](std::uint64_t i, Draws draws) {
        return draw_tiny(look_of_class(label_of(i), classes), draws);
      },
      [&](std::uint64_t i, Bytes jpeg) {
        zip.add(join(tiny_root, "val/images/val_", i, ".JPEG"), jpeg);
        annotations += join("val_", i, ".JPEG\t", wnid_of(label_of(i)), "\t0\t32\t44\t62\n");
      });
  zip.add(join(tiny_root, "val/val_annotations.txt"), as_bytes(annotations));
}

void make_tiny_imagenet(const std::filesystem::path& directory, MadeImages& images) {
  const unsigned classes = made_classes(images, tiny_classes);
  ZipWriter zip(directory / "tiny-imagenet-200.zip");
  std::string wnids;
  for (unsigned label = classes; label-- > 0;) wnids += wnid_of(label) + '\n';  // unsorted
  zip.add(join(tiny_root, "wnids.txt"), as_bytes(wnids));
  make_tiny_train(zip, images, classes);
  make_tiny_val(zip, images, classes);
  constexpr std::uint64_t unlabelled = 2, split = 2;
  for (std::uint64_t i = 0; i < unlabelled; ++i) {
    zip.add(join(tiny_root, "test/images/test_", i, ".JPEG"),
            draw_tiny(0, Draws(images.seed(), split, i)));
  }
  zip.finish();
}

const Synth tiny_imagenet_row("tiny-imagenet",
                              "drawn scenes of 64 by 64 in Tiny ImageNet's zip: N to train, "
                              "N/10 to val",
                              {1, 1'000'000, 10}, make_tiny_imagenet);

}  // namespace

const Synth& tiny_imagenet_synth = tiny_imagenet_row;

}  // namespace feedrate::converters
