#include "converters/synths/imagenet_devkit.h"

#include <string>

#include "converters/imagenet/imagenet_classes.h"
#include "formats/base/error.h"
#include "formats/io/gzip.h"
#include "formats/io/tar_writer.h"

namespace feedrate::converters {
using namespace formats;

void write_imagenet_devkit(const std::filesystem::path& file,
                           std::span<const std::int32_t> val_labels) {
  std::string ground_truth;
  for (const std::int32_t label : val_labels) {
    ground_truth += join(imagenet_id_of_label(label), '\n');
  }
  GzipFile gzip(file);
  TarWriter tar(gzip);
  const std::string folder = "ILSVRC2012_devkit_t12/";
  tar.add(folder + "readme.txt",
          as_bytes("Made by feedrate synth: drawings in the packaging of ILSVRC2012.\n"));
  tar.add(folder + "data/ILSVRC2012_validation_ground_truth.txt", as_bytes(ground_truth));
  tar.finish();
  gzip.close();
}

}  // namespace feedrate::converters
