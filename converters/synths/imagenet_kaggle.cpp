#include <algorithm>
#include <string>

#include "converters/synths/made_imagenet.h"
#include "converters/synths/zip_writer.h"
#include "formats/base/error.h"
#include "formats/base/imagenet_classes.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr std::string_view kaggle_data = "ILSVRC/Data/CLS-LOC/";
constexpr std::string_view annotations = "ILSVRC/Annotations/CLS-LOC/";
constexpr std::string_view solution_header = "ImageId,PredictionString\n";

std::string solution(std::string_view image, const std::string& wnid) {
  return join(image, ",", wnid, " 1 1 100 100 \n");
}

// Without labels.
void make_kaggle_test(ZipWriter& zip, std::uint64_t seed) {
  constexpr std::uint64_t split = 2, count = 2;
  for (std::uint64_t i = 0; i < count; ++i) {
    zip.add(join(kaggle_data, "test/ILSVRC2012_test_0000000", i + 1, ".JPEG"),
            draw_photograph(0, Draws(seed, split, i)));
  }
}

// Returns LOC_train_solution.csv.
std::string make_kaggle_train(ZipWriter& zip, MadeImagenet& made) {
  std::string list(solution_header);
  for (const MadeImagenet::Class& one : made.train_classes()) {
    const std::string& wnid = imagenet_wnids()[one.label];
    made.make_train(one, [&](std::uint64_t i, Bytes jpeg) {
      const std::string name = join(wnid, "_", i);
      zip.add(join(kaggle_data, "train/", wnid, "/", name, ".JPEG"), jpeg);
      list += solution(name, wnid);
    });
  }
  return list;
}

// Returns LOC_val_solution.csv, which is in another order than the images.
std::string make_kaggle_val(ZipWriter& zip, MadeImagenet& made) {
  std::vector<std::uint64_t> numbers = made.val_numbers();
  std::ranges::sort(numbers);
  for (const std::uint64_t number : numbers) {
    zip.add(join(annotations, "val/", MadeImagenet::val_name(number), ".xml"),
            as_bytes("<annotation></annotation>\n"));
  }
  made.make_val(numbers, [&](std::uint64_t i, Bytes jpeg) {
    zip.add(join(kaggle_data, "val/", MadeImagenet::val_name(numbers[i]), ".JPEG"), jpeg);
  });
  std::string list(solution_header);
  for (const std::uint64_t number : made.val_numbers()) {
    const auto label = static_cast<std::size_t>(made.val_labels()[number - 1]);
    list += solution(MadeImagenet::val_name(number), imagenet_wnids()[label]);
  }
  return list;
}

void make_imagenet_kaggle(const std::filesystem::path& directory, MadeImages& images) {
  MadeImagenet made(images);
  ZipWriter zip(directory / "imagenet-object-localization-challenge.zip");
  make_kaggle_test(zip, images.seed());
  const std::string train = make_kaggle_train(zip, made), val = make_kaggle_val(zip, made);
  std::string words;
  for (std::size_t label = 0; label < imagenet_classes; ++label) {
    words += join(imagenet_wnids()[label], " ", imagenet_words()[label], "\n");
  }
  zip.add("LOC_synset_mapping.txt", as_bytes(words));
  zip.add("LOC_train_solution.csv", as_bytes(train));
  zip.add("LOC_val_solution.csv", as_bytes(val));
  zip.finish();
}

// The images of the made 'imagenet' of the same seed.
const Synth imagenet_kaggle_row("imagenet-kaggle",
                                "the images of 'imagenet' in Kaggle's zip: N to train, N/26 to val",
                                {1, 1'300'000, 26}, make_imagenet_kaggle);

}  // namespace

const Synth& imagenet_kaggle_synth = imagenet_kaggle_row;

}  // namespace feedrate::converters
