#pragma once
// Fetches the files of a published dataset, checks their published hashes, and resumes.

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
  std::string_view content_sha256;  // of the decompressed content, to accept a copy that was
                                    // compressed again (Debian strips the name from the gzip
                                    // header); empty for tars
};

/// A published dataset: its files and mirrors.
class Published : public formats::Kind {
 public:
  Published(std::string_view name, std::string_view summary, std::span<const PublishedFile> files,
            std::span<const std::string_view> mirrors)
      : formats::Kind(name, summary), files_(files), mirrors_(mirrors) {}

  std::span<const PublishedFile> files() const { return files_; }
  /// URLs of directories, ending in a slash, in the order in which they are tried.
  std::span<const std::string_view> mirrors() const { return mirrors_; }

 private:
  std::span<const PublishedFile> files_;
  std::span<const std::string_view> mirrors_;
};

/// All published datasets, in the order of help.
std::span<const Published* const> published_sets();
const Published& published_set(std::string_view name);

struct FetchOptions {
  std::string from = {};  // a directory or URL in place of the mirrors
  std::function<void(std::string_view file, std::uint64_t done, std::uint64_t total)> progress = {};
};

/// Fetches the missing files of `set` into the directory `out`, which it makes if needed; returns
/// how many were missing. A file gets its name only once its hash is right; until then it is
/// `<name>.partial`, from which a later call continues. Throws Error with the answer of each
/// mirror; nothing is left if nothing was received.
unsigned fetch(const Published& set, const std::filesystem::path& out, const FetchOptions& options);

}  // namespace feedrate::converters
