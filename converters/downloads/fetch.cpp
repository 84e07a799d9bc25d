#include "converters/downloads/fetch.h"

#include <openssl/evp.h>

#include <memory>
#include <optional>
#include <vector>

#include "converters/archive.h"
#include "converters/downloads/download.h"
#include "formats/base/error.h"
#include "formats/digests/digest.h"
#include "formats/io/mapped_file.h"
#include "formats/remote/url.h"

namespace feedrate::converters {
using namespace formats;

#define FEEDRATE_ROW(name) extern const Published& name##_published;
#include "converters/downloads/list.inc"
#undef FEEDRATE_ROW

namespace {

namespace fs = std::filesystem;

// A copy that was compressed again may be slightly longer than the published file.
constexpr std::uint64_t packing_slack = std::uint64_t{64} << 10;

// The published hashes of these files are MD5: they guard against damage, not against malice.
std::string md5_of(Bytes bytes) {
  std::byte digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest), &size,
                 EVP_md5(), nullptr) != 1) {
    throw Error("OpenSSL offers no MD5 here");
  }
  return hex({digest, size});
}

std::string content_sha256(const fs::path& file) {
  Archive archive(file);
  Hasher hasher;
  Buffer block(1 << 16);
  if (archive.next()) {
    while (const std::size_t count = archive.read(block)) hasher.add(Bytes(block).first(count));
  }
  return hex(hasher.finish());
}

// Says what is wrong with the file; nothing if it is the published one.
std::optional<std::string> fault(const fs::path& file, const PublishedFile& expected) {
  const MappedFile mapped(file);
  const std::string md5 = md5_of(mapped.bytes());
  if (md5 == expected.md5) return std::nullopt;
  std::string message = join("expected md5 ", expected.md5, " and ", expected.bytes,
                             " bytes, found ", md5, " and ", mapped.bytes().size());
  try {
    if (expected.content_sha256.empty()) {
      const Archive archive(file);  // throws Error if it is a web page
    } else if (content_sha256(file) == expected.content_sha256) {
      return std::nullopt;
    }
  } catch (const Error& error) {
    message += join(" (", error.what(), ")");
  }
  return message;
}

class FileFetch {
 public:
  FileFetch(const PublishedFile& file, const fs::path& out, const FetchOptions& options)
      : file_(file),
        options_(options),
        final_(out / file.name),
        partial_(out / join(file.name, ".partial")) {}

  bool there() const { return fs::exists(final_) && !fault(final_, file_); }

  /// False if the URL does not have the right file; `reasons` then says why.
  bool from_url(const std::string& url) {
    const auto progress = [&](std::uint64_t done) {
      if (options_.progress) options_.progress(file_.name, done, file_.bytes);
    };
    try {
      const Download what{url, partial_, file_.bytes + packing_slack, progress};
      const bool continued = download(what);
      if (accept(url)) return true;
      // The partial file may have been the start of another file.
      if (continued) {
        download(what);
        return accept(url);
      }
    } catch (const Error& error) {
      reasons += join("\n  ", error.what());
    }
    std::error_code ignored;  // an empty file is not worth keeping
    if (fs::file_size(partial_, ignored) == 0) fs::remove(partial_, ignored);
    return false;
  }

  bool from_directory(const fs::path& directory) {
    const fs::path source = directory / file_.name;
    try {
      OutputFile copy(partial_);
      each_block(source, [&](Bytes block) { copy.write(block); });
      copy.close();
      return accept(source.string());
    } catch (const Error& error) {
      reasons += join("\n  ", error.what());
    }
    std::error_code ignored;
    fs::remove(partial_, ignored);
    return false;
  }

  std::string reasons;

 private:
  bool accept(const std::string& where) {
    if (const auto found = fault(partial_, file_)) {
      reasons += join("\n  ", where, ": ", *found);
      fs::remove(partial_);
      return false;
    }
    fs::rename(partial_, final_);
    return true;
  }

  const PublishedFile& file_;
  const FetchOptions& options_;
  fs::path final_;
  fs::path partial_;
};

bool fetch_file(const Published& set, FileFetch& file, const PublishedFile& published,
                const std::string& from) {
  const auto with_slash = [](std::string_view base) {
    return join(base, base.ends_with('/') ? "" : "/");
  };
  if (!url_scheme(from).empty())
    return file.from_url(with_slash(from) + std::string(published.name));
  if (!from.empty()) return file.from_directory(from);
  for (const std::string_view mirror : set.mirrors()) {
    if (file.from_url(with_slash(mirror) + std::string(published.name))) return true;
  }
  return false;
}

}  // namespace

std::span<const Published* const> published_sets() {
  static const Published* const all[] = {
#define FEEDRATE_ROW(name) &name##_published,
#include "converters/downloads/list.inc"
#undef FEEDRATE_ROW
  };
  return all;
}

const Published& published_set(std::string_view name) {
  return find_kind("published dataset", name, published_sets());
}

unsigned fetch(const Published& set, const fs::path& out, const FetchOptions& options) {
  std::error_code error;
  const bool made = fs::create_directories(out, error);
  if (error) fail(out, "cannot make the directory: ", error.message());
  unsigned fetched = 0;
  for (const PublishedFile& published : set.files()) {
    FileFetch file(published, out, options);
    if (file.there()) continue;
    if (!fetch_file(set, file, published, options.from)) {
      if (made) fs::remove(out, error);  // fails if something was received
      fail(out / published.name, "cannot be fetched:", file.reasons);
    }
    ++fetched;
  }
  return fetched;
}

}  // namespace feedrate::converters
