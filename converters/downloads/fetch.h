#pragma once
// Fetches the files of a published dataset, checks the hashes the world knows, and resumes.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "formats/base/kind.h"

namespace feedrate::converters {

struct PublishedFile {
  std::string_view name;
  std::uint64_t bytes = 0;
  std::string_view md5;             // as published
  std::string_view content_sha256;  // of the decompressed content: accepts a copy that was packed
                                    // again (Debian strips the name from the gzip header); empty
                                    // where there is no such content: tars
};

/// A published dataset: its files and where they are.
class Published : public formats::Kind {
 public:
  Published(std::string_view name, std::string_view summary, std::span<const PublishedFile> files,
            std::span<const std::string_view> mirrors)
      : formats::Kind(name, summary), files_(files), mirrors_(mirrors) {}

  std::span<const PublishedFile> files() const { return files_; }
  /// URLs, each with a slash at its end, in the order in which they are tried.
  std::span<const std::string_view> mirrors() const { return mirrors_; }

 private:
  std::span<const PublishedFile> files_;
  std::span<const std::string_view> mirrors_;
};

/// All of them, in the order of help.
std::span<const Published* const> published_sets();
const Published& published_set(std::string_view name);

struct FetchOptions {
  std::string from = {};  // a directory or URL in place of the mirrors
  std::function<void(std::string_view file, std::uint64_t done, std::uint64_t total)> progress = {};
};

/// Gets every file of `set` into the directory `out`, which is made when missing; returns how many
/// were not there already. A file has its name only when its hash is right; until then it is
/// `<name>.partial`, from which a later call goes on. Throws Error with what each mirror answered;
/// where nothing has arrived nothing is left.
unsigned fetch(const Published& set, const std::filesystem::path& out, const FetchOptions& options);

}  // namespace feedrate::converters
