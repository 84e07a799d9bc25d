#pragma once
// ILSVRC2012's tars for tests, with arbitrary bytes for images: the source does not decode them.

#include <filesystem>
#include <string>
#include <vector>

#include "converters/source.h"
#include "tests/converters/make_archive.h"

namespace feedrate::testing {
using namespace formats;
using namespace converters;

/// The bytes of image `number`, of a size of its own.
inline std::string image(std::uint32_t number) { return noise(600 + number % 97 * 31, number); }

inline Entries class_tars() {
  return {
      {"n01440764.tar", tar({{"n01440764_2.JPEG", image(2)}, {"n01440764_10.JPEG", image(10)}})},
      {"n15075141.tar", tar({{"n15075141_7.JPEG", image(7)}})},
      {"n01751748.tar", tar({{"n01751748_1.jpg", image(1)}})}};
}

/// ILSVRC2012_img_train.tar with three of the classes.
inline std::string train_tar() { return tar(class_tars()); }

/// ILSVRC2012_img_val.tar with these images, in this order.
inline std::string val_tar(const std::vector<std::uint32_t>& numbers) {
  Entries entries;
  for (const std::uint32_t number : numbers) {
    const std::string digits = std::to_string(100000000 + number).substr(1);
    entries.emplace_back("ILSVRC2012_val_" + digits + ".JPEG", image(number));
  }
  return tar(entries);
}

struct ReadSample {
  int label = 0;
  std::string name;
  std::string bytes;
  bool operator==(const ReadSample&) const = default;
};
using Read = std::vector<ReadSample>;

inline void PrintTo(const ReadSample& sample, std::ostream* out) {
  *out << sample.name << " " << sample.label << ", " << sample.bytes.size() << " bytes";
}

inline Read read(SampleStream& stream) {
  Read all;
  for (Sample sample; stream.next(sample);) {
    EXPECT_EQ(sample.codec, nullptr);
    all.push_back({sample.label, std::string(sample.name), std::string(as_text(sample.bytes))});
  }
  return all;
}

inline Read read(const std::vector<std::filesystem::path>& inputs, std::string_view split) {
  return read(*source("imagenet").open(inputs, split));
}

}  // namespace feedrate::testing
