#pragma once
// Datasets in several files, called shards: their names, finding the whole set in a directory, and
// distributing a writer's samples. Values; one thread for a ShardRun.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/dataset.h"

namespace feedrate::formats {

/// "train-00000-of-00004", "data-00000-of-00004.rec", "flowers_train_00000-of-00005.tfrecord".
struct ShardName {
  std::string stem;         // "train"
  std::uint32_t shard = 0;  // 0 … count - 1 in a valid set
  std::uint32_t count = 1;
  std::string extension = {};  // with its dot, or empty
  char separator = '-';        // in front of the number; some tools write '_'

  std::string text() const;
};

/// Nothing when the file's name does not have that form.
std::optional<ShardName> parse_shard_name(std::string_view file_name);

/// The existing shards of one set, in order.
struct ShardSet {
  std::vector<std::filesystem::path> files;
  std::uint32_t count = 0;                // how many the set should have
  std::vector<std::string> missing = {};  // names of the first few missing ones

  bool complete() const { return files.size() == count; }
};

/// The set of the file `shard`, which is named like a shard. Throws Error when the names beside it
/// contradict each other: another total, one shard twice, a number out of range.
ShardSet find_shards(const std::filesystem::path& shard);

/// Throws Error naming the missing files.
void require_complete(const ShardSet& set);

/// The first existing shard of each set in `directory`, sorted by name; sets differ in stem or
/// extension. Empty when the directory holds none or cannot be read.
std::vector<std::filesystem::path> shard_sets(const std::filesystem::path& directory);

/// Leads a writer through the shards of the samples WriterOptions::first … last, also when it
/// resumes from a killed writer's state (WriterOptions::resume). Shards without samples are written
/// too.
///
///   add:     while (auto shard = run.shard_to_open()) open(*shard);   write;   run.advance();
///   finish:  while (auto shard = run.shard_left()) open(*shard);
class ShardRun {
 public:
  /// Throws Error when first or last does not lie where a shard starts.
  explicit ShardRun(const WriterOptions& options);

  /// The shard that the killed writer was in, to be opened again at the sizes in
  /// WriterOptions::resume; nothing when no shard was open.
  std::optional<std::uint32_t> resumed_shard() const;

  /// Returns each shard that starts at or before the next sample once; the last one returned
  /// receives the sample. Throws Error when all samples of the run have been added.
  std::optional<std::uint32_t> shard_to_open();
  /// Call it after adding each sample.
  void advance() { ++index_; }
  /// Returns each remaining shard of the run, which no sample has opened, once.
  std::optional<std::uint32_t> shard_left();

  /// Index of the next sample in the whole dataset.
  std::uint64_t index() const { return index_; }
  /// Samples added, including those before a resume.
  std::uint64_t added() const { return index_ - first_; }

 private:
  std::uint32_t shard_at(std::uint64_t sample) const;

  Sharding sharding_;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;    // one past the last sample; 0 when unknown
  std::uint64_t index_ = 0;   // of the next sample
  std::uint32_t opened_ = 0;  // every shard of the run before this one has been opened
  std::uint32_t end_ = 0;     // one past the last shard of the run
  bool resumed_ = false;
};

/// Size of `file` (relative to the directory) in the state of a killed writer. Throws Error naming
/// `directory` when the state does not have it.
std::uint64_t resumed_size(const WriterState& state, std::string_view file,
                           const std::filesystem::path& directory);

}  // namespace feedrate::formats
