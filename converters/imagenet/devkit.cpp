#include "converters/imagenet/devkit.h"

#include "converters/archive.h"
#include "formats/base/error.h"
#include "formats/base/imagenet_classes.h"
#include "formats/base/text.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view ground_truth_name = "ILSVRC2012_validation_ground_truth.txt";
constexpr std::uint64_t max_file_bytes = 4 << 20;  // the published one has fewer than 200,000

std::vector<std::int32_t> labels_in(std::string_view lines, const std::string& place) {
  std::vector<std::int32_t> labels;
  while (!lines.empty()) {
    const std::string_view text = take_line(lines);
    const auto id = parse_number<std::size_t>(text);
    if (!id || *id < 1 || *id > imagenet_classes) {
      fail(place, "line ", labels.size() + 1, ": expected an ILSVRC2012_ID of 1 to ",
           imagenet_classes, ", found \"", text.substr(0, 40), "\"");
    }
    labels.push_back(label_of_imagenet_id(*id));
  }
  if (labels.size() != imagenet_val_images) {
    fail(place, "expected ", imagenet_val_images, " lines, one for each validation image, found ",
         labels.size());
  }
  return labels;
}

}  // namespace

bool is_ground_truth(std::string_view name) {
  return fs::path(name).filename() == ground_truth_name;
}

Devkit read_devkit(const std::vector<fs::path>& inputs) {
  if (inputs.empty()) throw Error("imagenet: no devkit given");
  Devkit devkit;
  Buffer content;
  for (const fs::path& input : inputs) {
    Archive archive(input);  // a text file is a single entry with its own name
    while (archive.next()) {
      if (!is_ground_truth(archive.name())) continue;
      archive.read_all(content, max_file_bytes);
      devkit = {labels_in(as_text(content), archive.place()), input};
    }
  }
  if (devkit.file.empty()) {
    fail(inputs.front(), "holds no ", ground_truth_name,
         "; give ILSVRC2012_devkit_t12.tar.gz or the directory it unpacks to");
  }
  return devkit;
}

}  // namespace feedrate::converters
