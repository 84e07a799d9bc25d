#include <algorithm>

#include "converters/imagenet/imagenet_streams.h"
#include "converters/source.h"
#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

// The files of a split. Throws Error saying what is missing.
ImagenetFiles files_for(std::span<const fs::path> inputs, std::string_view split) {
  ImagenetFiles found = find_imagenet_files(inputs);
  if (split == "train") {
    if (!found.train.empty()) return found;
    fail(inputs.front(),
         "holds no training images; give ILSVRC2012_img_train.tar, or the tars of classes in it");
  }
  if (found.val.empty()) {
    fail(inputs.front(), "holds no validation images; give ILSVRC2012_img_val.tar");
  }
  if (found.devkit.empty()) {
    fail(found.val.front(), "holds images without their classes; also give ",
         "ILSVRC2012_devkit_t12.tar.gz, which holds the ground truth of the validation images");
  }
  return found;
}

ImagenetExtras extras_of(const ImagenetFiles& files) {
  ImagenetExtras extras;
  if (!files.devkit.empty()) extras.devkit = read_devkit(files.devkit);
  if (!files.boxes.empty()) {
    Boxes& boxes = extras.boxes.emplace();
    for (const fs::path& input : files.boxes) boxes.read(input);
  }
  return extras;
}

class Imagenet final : public Source {
 public:
  Imagenet()
      : Source("imagenet",
               "ILSVRC2012's tars of images, with its devkit and bounding boxes, or class tars") {}

  std::vector<std::string> splits(std::span<const fs::path> inputs) const override {
    const ImagenetFiles found = find_imagenet_files(inputs);
    std::vector<std::string> there;
    if (!found.train.empty()) there.emplace_back("train");
    if (!found.val.empty()) there.emplace_back("val");
    if (there.empty()) {
      fail(inputs.front(),
           "holds no images; give ILSVRC2012_img_train.tar or ILSVRC2012_img_val.tar");
    }
    return there;
  }

  bool takes_boxes() const override { return true; }

  std::unique_ptr<SampleStream> open(std::span<const fs::path> inputs,
                                     std::string_view split) const override {
    ImagenetFiles files = files_for(inputs, split);
    ImagenetExtras extras = extras_of(files);
    if (split == "train") return open_imagenet_train(std::move(files.train), std::move(extras));
    return open_imagenet_val(std::move(files.val), std::move(extras));
  }

  // Leaves out a directory of annotations: half a million files.
  std::vector<fs::path> files(std::span<const fs::path> inputs,
                              std::string_view split) const override {
    const ImagenetFiles found = files_for(inputs, split);
    std::vector<fs::path> files;
    if (split == "train") {
      for (const TrainTar& tar : found.train) files.push_back(tar.file);
    } else {
      files = found.val;
    }
    if (!found.devkit.empty()) files.push_back(read_devkit(found.devkit).file);
    std::ranges::copy_if(found.boxes, std::back_inserter(files),
                         [](const fs::path& path) { return fs::is_regular_file(path); });
    return files;
  }
};

const Imagenet imagenet_row;

}  // namespace

const Source& imagenet_source = imagenet_row;

}  // namespace feedrate::converters
