#pragma once
// Datasets written in parts: in shards, by several machines, by a writer that is killed.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "formats/io/file.h"
#include "tests/support/sample_images.h"

namespace feedrate::testing {
using namespace formats;

/// Adds the examples in [begin, end).
inline void add_examples(Writer& writer, const Codec& codec, const std::vector<Example>& examples,
                         std::uint64_t begin, std::uint64_t end) {
  Buffer encoded;
  for (std::uint64_t i = begin; i < end; ++i) {
    codec.encode(examples[i].image, encoded);
    Sample sample;
    sample.bytes = encoded;
    sample.codec = &codec;
    sample.shape = examples[i].image.shape;
    sample.label = examples[i].label;
    sample.name = examples[i].name;
    writer.add(sample);
  }
}

/// Writes the examples in [options.first, options.last). The directory may exist.
inline void write_part(const Container& container, const std::filesystem::path& directory,
                       const WriterOptions& options, const std::vector<Example>& examples) {
  std::filesystem::create_directories(directory);
  const auto writer = container.create(directory, options);
  const std::uint64_t end = options.last != 0 ? options.last : examples.size();
  add_examples(*writer, *options.codec, examples, options.first, end);
  writer->finish(nullptr);
}

/// The same, but the writer pauses after `paused` samples and is killed after `more` further ones;
/// these are lost if `more` is odd, and were written if it is even. Another writer resumes.
inline void write_with_a_kill(const Container& container, const std::filesystem::path& directory,
                              WriterOptions options, const std::vector<Example>& examples,
                              std::uint64_t paused, std::uint64_t more) {
  std::filesystem::create_directories(directory);
  const std::uint64_t end = options.last != 0 ? options.last : examples.size();
  const std::uint64_t pause_at = options.first + paused;
  WriterState state;
  {
    const auto writer = container.create(directory, options);
    add_examples(*writer, *options.codec, examples, options.first, pause_at);
    state = writer->pause();
    add_examples(*writer, *options.codec, examples, pause_at, std::min(pause_at + more, end));
    if (more % 2 == 0) writer->pause();
  }
  options.resume = &state;
  const auto writer = container.create(directory, options);
  add_examples(*writer, *options.codec, examples, pause_at, end);
  writer->finish(nullptr);
}

/// Every file below `directory`, by its name from there.
inline std::map<std::string, std::string> files_of(const std::filesystem::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().lexically_relative(directory).string()] = read_text(entry.path());
  }
  return files;
}

}  // namespace feedrate::testing
