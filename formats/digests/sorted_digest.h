#pragma once
// The SHA-256 of digests in their sorted order, in memory that does not grow with their number.

#include <filesystem>
#include <optional>
#include <vector>

#include "formats/digests/digest.h"
#include "formats/digests/nameless_file.h"

namespace feedrate::formats {

/// Sorts what fits in memory into runs, keeps the runs in a file without a name, and merges them.
/// That file takes 32 bytes a digest, and 64 beyond merged_runs runs. One thread.
class SortedDigest {
 public:
  struct Limits {
    std::size_t run_digests = std::size_t{1} << 18;  // 8 MiB
    std::size_t merged_runs = 256;                   // at once
  };

  /// The file is made in `directory`, once the digests of more than one run are added.
  explicit SortedDigest(std::filesystem::path directory) : SortedDigest(std::move(directory), {}) {}
  SortedDigest(std::filesystem::path directory, const Limits& limits);

  /// Throws Error naming the directory if the file cannot be written.
  void add(const Sha256& digest);
  /// Of all digests added. Call it once.
  Sha256 finish();

 private:
  struct Run {
    std::uint64_t begin = 0;  // in bytes of the file
    std::uint64_t end = 0;
  };
  class Reader;

  void sort();
  void keep_run();
  // Passes all digests of the runs to `take` in blocks, sorted.
  template <class Take>
  void merge(const std::vector<Run>& runs, Take take);

  std::filesystem::path directory_;
  Limits limits_;
  std::vector<Sha256> memory_;
  std::optional<NamelessFile> file_;
  std::vector<Run> runs_;    // sorted each, not yet merged
  std::vector<Run> merged_;  // of merged_runs runs each
};

}  // namespace feedrate::formats
