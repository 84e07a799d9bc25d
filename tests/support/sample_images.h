#pragma once
// Small images whose pixels are a pure function of a number, and datasets made of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "formats/container.h"
#include "formats/digests/digest.h"

namespace feedrate::testing {
using namespace formats;

/// One image of a dataset.
struct Example {
  Image image;
  std::int32_t label = 0;
  std::string name;
};

/// Smooth with some noise, different for every number: neither trivial nor incompressible.
inline Image make_image(Shape shape, std::uint32_t number) {
  Image image{shape, Buffer(shape.bytes())};
  std::uint32_t noise = number * 2654435761U + 12345;
  std::size_t at = 0;
  for (std::uint32_t y = 0; y < shape.height; ++y) {
    for (std::uint32_t x = 0; x < shape.width; ++x) {
      for (std::uint32_t c = 0; c < shape.channels; ++c) {
        noise = noise * 1664525U + 1013904223U;
        image.pixels[at++] =
            static_cast<std::byte>(number * 31 + 3 * y + 5 * x + 70 * c + (noise >> 29));
      }
    }
  }
  return image;
}

/// `count` images of one shape with labels 0, 1, … 9, 0, …; optionally with names.
inline std::vector<Example> make_examples(Shape shape, std::uint32_t count, bool named = false) {
  std::vector<Example> examples;
  for (std::uint32_t i = 0; i < count; ++i) {
    examples.push_back({make_image(shape, i), static_cast<std::int32_t>(i % 10),
                        named ? "class" + std::to_string(i % 10) + "/" + std::to_string(i) + ".png"
                              : std::string()});
  }
  return examples;
}

/// Writes `examples` into `directory`, which is made here.
inline void write_dataset(const Container& container, const Codec& codec,
                          const std::filesystem::path& directory,
                          const std::vector<Example>& examples, const MeanImage* mean = nullptr) {
  std::filesystem::create_directories(directory);
  WriterOptions options;
  options.codec = &codec;
  const std::unique_ptr<Writer> writer = container.create(directory, options);
  Buffer encoded;
  for (const Example& example : examples) {
    codec.encode(example.image, encoded);
    Sample sample;
    sample.bytes = encoded;
    sample.codec = &codec;
    sample.shape = example.image.shape;
    sample.label = example.label;
    sample.name = example.name;
    writer->add(sample);
  }
  writer->finish(mean);
}

/// Reads and decodes one sample.
inline Image decode_sample(const Sample& sample) {
  Image image{sample.shape, Buffer(sample.shape.bytes())};
  decode(sample, image.pixels);
  return image;
}

/// The pixels that a dataset gives back: unchanged, or after lossy encoding.
inline Image stored_image(const Codec& codec, const Image& image) {
  if (!codec.has_quality()) return image;
  Buffer encoded;
  codec.encode(image, encoded);
  Image stored{image.shape, Buffer(image.shape.bytes())};
  codec.decode(encoded, stored.shape, stored.pixels);
  return stored;
}

/// `examples` with the pixels that `codec` gives back.
inline std::vector<Example> stored_examples(const Codec& codec, std::vector<Example> examples) {
  for (Example& example : examples) example.image = stored_image(codec, example.image);
  return examples;
}

/// `examples` in the order in which a container gives them back: by class, then by name, if it does
/// not keep the order. All names have the same directories, or there are no names.
inline std::vector<Example> in_reading_order(const Container& container,
                                             std::vector<Example> examples) {
  if (!container.keeps_order()) {
    std::stable_sort(examples.begin(), examples.end(), [](const Example& a, const Example& b) {
      return std::tie(a.label, a.name) < std::tie(b.label, b.name);
    });
  }
  return examples;
}

}  // namespace feedrate::testing
