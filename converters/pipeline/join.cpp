#include "converters/pipeline/join.h"

#include <algorithm>
#include <optional>

#include "converters/pipeline/describe.h"
#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/io/file.h"
#include "formats/io/partial_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

struct FoundPart {
  fs::path path;
  ConversionPart part;
};

// "3-of-8", or nothing.
std::optional<ConversionPart> parse_part(std::string_view text) {
  const std::size_t middle = text.find("-of-");
  if (middle == std::string_view::npos) return std::nullopt;
  const auto number = parse_number<std::uint32_t>(text.substr(0, middle));
  const auto count = parse_number<std::uint32_t>(text.substr(middle + 4));
  if (!number || !count) return std::nullopt;
  return ConversionPart{*number, *count};
}

std::vector<FoundPart> find_parts(const fs::path& out) {
  const std::string start = out.filename().string() + ".part-";
  const fs::path parent = out.has_parent_path() ? out.parent_path() : fs::path(".");
  std::vector<FoundPart> parts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(start)) continue;
    const auto part = parse_part(std::string_view(name).substr(start.size()));
    if (part) parts.push_back({out.parent_path() / name, *part});
  }
  if (error) fail_errno(parent, "cannot list the directory", error.value());
  std::ranges::sort(parts, {}, [](const FoundPart& found) { return found.part.number; });
  return parts;
}

// Throws Error unless these are the parts 1 … N of one N.
void require_complete(const fs::path& out, const std::vector<FoundPart>& parts) {
  if (parts.empty()) {
    fail(out, "has no parts to join: looked for ", out.filename(), ".part-1-of-N beside it");
  }
  const std::uint32_t count = parts.front().part.count;
  for (const FoundPart& found : parts) {
    if (found.part.count != count) {
      fail(found.path, "is one of ", found.part.count, " parts, but ",
           parts.front().path.filename(), " is one of ", count);
    }
  }
  for (std::uint32_t number = 1; number <= count; ++number) {
    const bool there = std::ranges::any_of(
        parts, [&](const FoundPart& found) { return found.part.number == number; });
    if (!there) {
      fail(out, "part ", number, " of ", count,
           " is missing; make it with: feedrate convert … --part ", number, "/", count);
    }
  }
}

// The lines that must be equal in all parts: without the part itself and the times of the inputs.
std::vector<std::string> common_purpose(const FinishedPart& part) {
  std::vector<std::string> common;
  for (const std::string& line : part.purpose) {
    if (line.starts_with("--part ")) continue;
    const bool input = line.starts_with("input ");
    common.push_back(input ? line.substr(0, line.rfind(',')) : line);
  }
  return common;
}

void require_same_purpose(const fs::path& here, const FinishedPart& part,
                          const FinishedPart& first) {
  const std::vector<std::string> mine = common_purpose(part);
  const std::vector<std::string> theirs = common_purpose(first);
  if (mine == theirs) return;
  const auto [at, other] = std::ranges::mismatch(mine, theirs);
  fail(here, "was made with '", at == mine.end() ? "nothing" : *at, "', part 1 with '",
       other == theirs.end() ? "nothing" : *other, "'");
}

bool is_data(const fs::path& file) {
  const std::string name = file.filename().string();
  return name != sidecar_name && !is_journal(name);
}

// Links each file of the part, so that nothing is lost if a later step fails.
void take_files(const fs::path& from, const fs::path& to) {
  for (const auto& entry : fs::directory_iterator(from)) {
    if (!is_data(entry.path())) continue;
    const fs::path target = to / entry.path().filename();
    std::error_code error;
    if (fs::exists(target)) {  // a list of classes or the like, which every part writes
      if (read_text(target) == read_text(entry.path())) continue;
      fail(entry.path(), "is in another part too, and differs");
    }
    fs::create_hard_link(entry.path(), target, error);
    if (error) fs::copy_file(entry.path(), target, error);
    if (error) fail_errno(target, "cannot be made", error.value());
  }
}

}  // namespace

Conversion join_parts(const fs::path& given) {
  const fs::path out = given.has_filename() ? given : given.parent_path();
  const std::vector<FoundPart> parts = find_parts(out);
  require_complete(out, parts);
  PartialDirectory directory(out);
  const FinishedPart first = read_journal(parts.front().path);
  Tally all;
  for (const FoundPart& found : parts) {
    const FinishedPart part = read_journal(found.path);
    require_same_purpose(found.path, part, first);
    all.append(part.tally);
    take_files(found.path, directory.path());
  }
  std::optional<Sidecar> sidecar = read_sidecar(parts.front().path);
  if (!sidecar) fail(parts.front().path, "has no ", sidecar_name, ": is the part finished?");
  const Conversion conversion = result_of(all);
  complete(*sidecar, all, conversion);
  sidecar->files = files_beside(directory.path());
  write_sidecar(directory.path(), *sidecar);
  directory.commit();
  for (const FoundPart& found : parts) fs::remove_all(found.path);
  return conversion;
}

}  // namespace feedrate::converters
