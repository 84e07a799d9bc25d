#pragma once
// Files with an index beside them: u16le size of the index, the index, the file. An index may be
// refused or found to be wrong, but it must not change any sample.

#include <algorithm>
#include <optional>
#include <string>

#include "formats/base/text.h"
#include "formats/container.h"
#include "formats/io/file.h"
#include "tests/fuzz/decode.h"

namespace feedrate::fuzz {
using namespace formats;

struct IndexedInput {
  Bytes index, file;
};

inline IndexedInput split_input(Bytes input) {
  if (input.size() < 2) return {};
  const std::size_t stated = load_le<std::uint16_t>(input.data());
  const std::size_t size = std::min(stated, input.size() - 2);
  return {input.subspan(2, size), input.subspan(2 + size)};
}

inline Buffer join_input(Bytes index, Bytes file) {
  Buffer input;
  append_le(input, static_cast<std::uint16_t>(index.size()));
  append(input, index);
  append(input, file);
  return input;
}

/// The parts of a sample that can be compared after its dataset is closed.
struct SeenSample {
  std::string bytes, name, label;
  bool operator==(const SeenSample&) const = default;
};
/// Reads a sample; nothing when it cannot be read.
using SeenSamples = std::vector<std::optional<SeenSample>>;

/// The class by name, where labels are text: what cannot be read may have other names in front of it.
inline std::string class_of(const Dataset& dataset, const Sample& sample) {
  const std::vector<std::string>& names = dataset.info().class_names.names;
  const auto label = static_cast<std::size_t>(sample.label);
  const std::string text = label < names.size() ? names[label] : std::to_string(sample.label);
  const auto number = parse_number<std::int64_t>(text);
  return number ? std::to_string(*number) : text;
}

/// The first samples; nothing when the dataset cannot be opened.
inline std::optional<SeenSamples> samples_of(const Container& kind,
                                             const std::filesystem::path& path) {
  constexpr std::uint64_t max_samples = 16;
  std::unique_ptr<Dataset> dataset;
  if (!accepts([&] { dataset = kind.open(path); })) return std::nullopt;
  require(dataset->size() > 0, "a dataset that opens holds something");
  SeenSamples samples;
  Scratch scratch;
  for (std::uint64_t i = 0; i < std::min(dataset->size(), max_samples); ++i) {
    samples.emplace_back();
    accepts([&] {
      const Sample sample = dataset->read(i, scratch);
      require(sample.codec != nullptr && sample.shape.plausible(), "a sample can be decoded");
      samples.back() = {std::string(as_text(sample.bytes)), std::string(sample.name),
                        class_of(*dataset, sample)};
    });
  }
  accepts([&] { dataset->audit([](const Finding&) {}); });
  return samples;
}

/// Opens `input.file` under the given name, with and without `input.index` beside it, and compares.
inline void check_indexed(const Container& kind, const IndexedInput& input,
                          std::string_view file_name, std::string_view index_name) {
  std::filesystem::remove(directory() / index_name);
  const auto path = file_of(input.file, file_name);
  const std::optional<SeenSamples> plain = samples_of(kind, path);
  if (input.index.empty()) return;
  file_of(input.index, index_name);
  const std::optional<SeenSamples> indexed = samples_of(kind, path);
  if (!plain || !indexed) return;
  for (std::size_t i = 0; i < std::min(plain->size(), indexed->size()); ++i) {
    const auto &one = (*plain)[i], &other = (*indexed)[i];
    require(!one || !other || *one == *other, "an index does not change what a sample is");
  }
}

/// Two small samples that a container writes into directory() / "seeds".
inline std::filesystem::path write_two_samples(const Container& kind, const ClassNames& classes) {
  const std::filesystem::path set = directory() / "seeds";
  std::filesystem::remove_all(set);
  std::filesystem::create_directories(set);
  WriterOptions options;
  options.codec = &png_codec;
  options.classes = classes;
  const std::unique_ptr<Writer> writer = kind.create(set, options);
  Buffer image;
  png_codec.encode(small_image({2, 3, 1}), image);
  const Box boxes[] = {{0.25F, 0.5F, 0.75F, 1}};
  Sample sample{.bytes = image, .codec = &png_codec, .shape = {2, 3, 1}, .label = 1};
  writer->add(sample);
  sample.name = "dir/second.JPEG";
  sample.boxes = boxes;
  writer->add(sample);
  writer->finish(nullptr);
  return set;
}

inline Buffer content_of(const std::filesystem::path& path) {
  Buffer content;
  read_file(path, content);
  return content;
}

}  // namespace feedrate::fuzz
