#include "formats/containers/folder/digest_list.h"

#include <unordered_map>

#include "formats/base/error.h"
#include "formats/digests/digest.h"
#include "formats/io/file.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t digits = 2 * sizeof(StoredDigest);
constexpr std::string_view between = "  ";
constexpr std::size_t max_reported = 100;
constexpr std::uint64_t unlisted = ~std::uint64_t{0};

// With the seed 0 the digest of a stored sample is that of its file alone.
std::string digest_of(Bytes content) { return hex(stored_digest(0, content)); }

}  // namespace

std::string digest_line(Bytes content, std::string_view path) {
  return join(digest_of(content), between, path, '\n');
}

std::optional<std::string_view> path_in_digest_line(std::string_view line) {
  if (line.size() <= digits + between.size() ||
      line.find_first_not_of("0123456789abcdef") != digits ||
      line.substr(digits, between.size()) != between) {
    return std::nullopt;
  }
  return line.substr(digits + between.size());
}

DigestList::DigestList(const fs::path& folder, const FolderFiles& files)
    : path_(folder / digest_list_name) {
  std::error_code ignored;
  exists_ = fs::exists(path_, ignored);
  if (!exists_) return;
  try {
    text_ = read_text(path_);
  } catch (const Error& error) {
    report(path_.string(), error.what());
    return;
  }
  lines_.assign(files.images.size(), unlisted);
  read_lines(files);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (lines_[i] != unlisted) continue;
    report((folder / files.path(files.images[i])).string(),
           join("is not listed in ", digest_list_name));
  }
  if (!findings_.empty()) order_.clear();
  if (unreported_ != 0) {
    findings_.push_back({path_.string(), join("and ", unreported_, " more findings")});
  }
}

void DigestList::read_lines(const FolderFiles& files) {
  std::unordered_map<std::string_view, std::uint64_t> images;
  images.reserve(files.images.size());
  for (std::size_t i = 0; i < files.images.size(); ++i) {
    images.emplace(files.path(files.images[i]), i);
  }
  order_.reserve(files.images.size());
  const std::string_view text = text_;
  std::uint64_t number = 1;
  for (std::size_t start = 0, end = 0; start < text.size(); start = end + 1, ++number) {
    const auto report_line = [&](std::string problem) {
      report(join(path_, ": line ", number), std::move(problem));
    };
    end = text.find('\n', start);
    if (end == std::string_view::npos) {
      report_line("has no end: the list is cut off");
      return;
    }
    const auto path = path_in_digest_line(text.substr(start, end - start));
    if (!path) {
      report_line("is not a digest of 32 hex digits, two blanks and a path");
      continue;
    }
    const auto image = images.find(*path);
    if (image == images.end()) {
      report_line(join("lists '", *path, "', which is not there"));
    } else if (lines_[image->second] != unlisted) {
      report_line(join("lists '", *path, "' a second time"));
    } else {
      lines_[image->second] = start;
      order_.push_back(image->second);
    }
  }
}

void DigestList::report(std::string place, std::string problem) {
  if (findings_.size() < max_reported) {
    findings_.push_back({std::move(place), std::move(problem)});
  } else {
    ++unreported_;
  }
}

void DigestList::expect(std::uint64_t index, Bytes content) const {
  if (lines_.empty() || lines_[index] == unlisted) return;
  const std::string_view expected = std::string_view(text_).substr(lines_[index], digits);
  const std::string found = digest_of(content);
  if (found == expected) return;
  throw Error(join("the file has changed since it was written: expected xxh128:", expected, " (",
                   digest_list_name, "), found xxh128:", found));
}

}  // namespace feedrate::formats
