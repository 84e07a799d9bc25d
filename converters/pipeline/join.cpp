#include "converters/pipeline/join.h"

#include <algorithm>
#include <optional>

#include "converters/pipeline/describe_conversion.h"
#include "converters/pipeline/parts.h"
#include "formats/base/error.h"
#include "formats/base/without_slash.h"
#include "formats/io/file.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

// Throws Error unless these are the parts 1 … N of one N.
void require_complete(const fs::path& out, const std::vector<FoundPart>& parts) {
  if (parts.empty()) {
    fail(out, "has no parts to join: looked for ", out.filename(), ".part-1-of-N beside it");
  }
  const std::uint32_t count = parts.front().part.count;
  for (std::uint32_t number = 1; number <= count; ++number) {
    const auto found = std::ranges::find_if(
        parts, [&](const FoundPart& part) { return part.part.number == number; });
    if (found != parts.end() && found->whole) continue;
    const bool begun = found != parts.end();
    fail(out, "part ", number, " of ", count,
         begun ? " is unfinished; finish" : " is missing; make",
         " it with: feedrate convert … --part ", number, "/", count, begun ? " --resume" : "");
  }
}

void require_same_purpose(const fs::path& here, const FinishedPart& part,
                          const FinishedPart& first) {
  const auto lines = first_difference(common_purpose(part.purpose), common_purpose(first.purpose));
  if (!lines) return;
  fail(here, "was made with '", lines->first, "', part 1 with '", lines->second, "'");
}

void require_its_files(const FoundPart& found, const FinishedPart& part) {
  for (const auto& [name, bytes] : part.tally.files) {
    const fs::path file = found.path / name;
    std::error_code error;
    const std::uint64_t size = fs::file_size(file, error);
    if (!error && size == bytes) continue;
    fail(file, "expected ", bytes, " bytes, as when the part was finished, found ",
         error ? error.message() : std::to_string(size), "; remove ", found.path.filename(),
         " and make it again with: feedrate convert … --part ", found.part.number, "/",
         found.part.count);
  }
}

bool is_data(const fs::path& file) {
  const std::string name = file.filename().string();
  return name != sidecar_name && !is_journal(name) && name != PartialDirectory::mark;
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

bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code error;
  if (fs::equivalent(one, other, error)) return true;  // a link
  if (error || fs::file_size(one, error) != fs::file_size(other, error)) return false;
  return file_hash(one) == file_hash(other);
}

// A part that has been removed in part holds fewer files.
bool holds(const fs::path& out, const fs::path& part) {
  std::error_code error;  // another process may be removing it
  fs::directory_iterator entry(part, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!is_data(entry->path())) continue;
    if (!is_same_file(entry->path(), out / entry->path().filename())) return false;
  }
  return !error;
}

// What an earlier call joined that was killed before it had removed all parts.
std::optional<Conversion> joined_earlier(const fs::path& out) {
  if (!fs::exists(out) || find_any_parts(out).empty()) return std::nullopt;
  const std::optional<Sidecar> sidecar = read_sidecar(out);
  if (!sidecar || !remove_joined_parts(out)) return std::nullopt;
  remove_mark(out);
  return result_of(*sidecar);
}

}  // namespace

bool remove_joined_parts(const fs::path& out) {
  bool all = true;
  for (const FoundPart& found : find_any_parts(out)) {
    const bool joined = found.whole && holds(out, found.path);
    if (joined) fs::remove_all(found.path);
    all = all && joined;
  }
  return all;
}

Conversion join_parts(PartialDirectory& directory) {
  const fs::path& out = directory.target();
  std::vector<FoundPart> parts = find_parts(out);
  require_complete(out, parts);
  std::erase_if(parts, [](const FoundPart& found) { return !found.whole; });
  const FinishedPart first = read_journal(parts.front().path);
  Tally all;
  RunningDigest digests(directory.path());
  for (const FoundPart& found : parts) {
    const FinishedPart part = read_journal(found.path);
    require_same_purpose(found.path, part, first);
    require_its_files(found, part);
    all.append(part.tally);
    read_digests(found.path, part.tally.written,
                 [&](const SampleDigests& sample) { digests.add(sample); });
    take_files(found.path, directory.path());
  }
  std::optional<Sidecar> sidecar = read_sidecar(parts.front().path);
  if (!sidecar) fail(parts.front().path, "has no ", sidecar_name, ": is the part finished?");
  Conversion conversion = result_of(all, digests.finish());
  conversion.checked =
      std::ranges::find(sidecar->options, no_check_option) == sidecar->options.end();
  complete(*sidecar, all, conversion);
  complete_whole(*sidecar, conversion);
  add_crop_index(directory.path(), *sidecar, 0);
  sidecar->files = files_beside(directory.path());
  write_sidecar(directory.path(), *sidecar);
  expect_described(directory.path(), *sidecar);
  directory.commit();
  for (const FoundPart& found : parts) fs::remove_all(found.path);
  return conversion;
}

Conversion join_parts(const fs::path& out) {
  if (auto joined = joined_earlier(out)) return *std::move(joined);
  require_complete(out, find_parts(out));  // before anything is made
  PartialDirectory directory(out);
  return join_parts(directory);
}

std::optional<Conversion> join_if_whole(const fs::path& out) {
  if (fs::exists(out) || !all_whole(find_parts(out))) return std::nullopt;
  std::optional<PartialDirectory> directory;
  try {
    directory.emplace(out);
  } catch (const Error&) {
    // Another process joins them, or has done so meanwhile.
    if (fs::exists(out) || !all_whole(find_parts(out))) return std::nullopt;
    fs::path partial = without_slash(out);
    partial += ".partial";
    std::error_code ignored;
    if (fs::is_directory(partial, ignored) && is_being_written(partial)) return std::nullopt;
    throw;
  }
  return join_parts(*directory);
}

}  // namespace feedrate::converters
