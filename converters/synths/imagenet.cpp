#include <span>
#include <string>

#include "converters/imagenet/devkit.h"
#include "converters/synths/made_imagenet.h"
#include "converters/synths/made_tar.h"
#include "formats/base/error.h"
#include "formats/base/imagenet_classes.h"
#include "formats/io/file.h"
#include "formats/io/gzip.h"

namespace feedrate::converters {
using namespace formats;

namespace {

// Writes ILSVRC2012_devkit_t12.tar.gz with `val_labels` as the ground truth of the validation
// images. It has no meta.mat: the classes are those of ILSVRC2012.
void write_devkit(const std::filesystem::path& file, std::span<const std::int32_t> val_labels) {
  std::string ground_truth;
  for (const std::int32_t label : val_labels) {
    ground_truth += join(imagenet_id_of_label(label), '\n');
  }
  write_made_tar<GzipFile>(file, [&](auto& tar) {
    const std::string folder = "ILSVRC2012_devkit_t12/";
    tar.add(folder + "readme.txt",
            as_bytes("Made by feedrate synth: drawings in the packaging of ILSVRC2012.\n"));
    tar.add(folder + "data/ILSVRC2012_validation_ground_truth.txt", as_bytes(ground_truth));
  });
}

struct BufferSink {
  Buffer bytes;
  void write(Bytes more) { append(bytes, more); }
};

// A tar that holds a tar for each class.
void make_train(const std::filesystem::path& path, MadeImagenet& made) {
  write_made_tar<OutputFile>(path, [&](auto& tar) {
    for (const MadeImagenet::Class& one : made.train_classes()) {
      const std::string& wnid = imagenet_wnids()[one.label];
      BufferSink sink;
      TarWriter class_tar(sink);
      made.make_train(one, [&](std::uint64_t i, Bytes jpeg) {
        class_tar.add(join(wnid, "_", i, ".JPEG"), jpeg);
      });
      class_tar.finish();
      tar.add(wnid + ".tar", sink.bytes);
    }
  });
}

// In random order, like the published tar.
void make_val(const std::filesystem::path& path, MadeImagenet& made) {
  write_made_tar<OutputFile>(path, [&](auto& tar) {
    made.make_val(made.val_numbers(), [&](std::uint64_t i, Bytes jpeg) {
      tar.add(join(MadeImagenet::val_name(made.val_numbers()[i]), ".JPEG"), jpeg);
    });
  });
}

void make_imagenet(const std::filesystem::path& directory, MadeImages& images) {
  MadeImagenet made(images);
  make_train(directory / "ILSVRC2012_img_train.tar", made);
  make_val(directory / "ILSVRC2012_img_val.tar", made);
  write_devkit(directory / "ILSVRC2012_devkit_t12.tar.gz", made.val_labels());
}

// The devkit labels 50,000 validation images: 1,300,000 / 26.
const Synth imagenet_row("imagenet",
                         "drawn scenes in ILSVRC2012's tars and devkit: N to train, N/26 to val",
                         {1, 1'300'000, 26}, make_imagenet);

}  // namespace

const Synth& imagenet_synth = imagenet_row;

}  // namespace feedrate::converters
