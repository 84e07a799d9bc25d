#include "converters/pipeline/parts.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/base/without_slash.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

// "3-of-8", or nothing.
std::optional<ConversionPart> parse_part(std::string_view text) {
  const std::size_t middle = text.find("-of-");
  if (middle == std::string_view::npos) return std::nullopt;
  const auto number = parse_number<std::uint32_t>(text.substr(0, middle));
  const auto count = parse_number<std::uint32_t>(text.substr(middle + 4));
  if (!number || !count || *number < 1 || *number > *count) return std::nullopt;
  return ConversionPart{*number, *count};
}

void require_one_count(const std::vector<FoundPart>& parts) {
  for (const FoundPart& found : parts) {
    const FoundPart& first = parts.front();
    if (found.part.count == first.part.count) continue;
    fail(found.path, "is one of ", found.part.count, " parts, but ", first.path.filename(),
         " is one of ", first.part.count);
  }
}

}  // namespace

std::vector<FoundPart> find_any_parts(const fs::path& given) {
  constexpr std::string_view unfinished = ".partial";
  const fs::path out = without_slash(given);
  const std::string start = out.filename().string() + ".part-";
  const fs::path parent = out.has_parent_path() ? out.parent_path() : fs::path(".");
  std::vector<FoundPart> parts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(start)) continue;
    std::string_view number = std::string_view(name).substr(start.size());
    const bool whole = !number.ends_with(unfinished);
    if (!whole) number.remove_suffix(unfinished.size());
    const auto part = parse_part(number);
    if (part) parts.push_back({out.parent_path() / name, *part, whole});
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    fail_errno(parent, "cannot list the directory", error.value());
  }
  std::ranges::sort(parts, {}, [](const FoundPart& found) {
    return std::tuple(found.part.number, found.part.count, !found.whole);
  });
  return parts;
}

std::vector<FoundPart> find_parts(const fs::path& out) {
  std::vector<FoundPart> parts = find_any_parts(out);
  require_one_count(parts);
  return parts;
}

bool all_whole(const std::vector<FoundPart>& parts) {
  if (parts.empty()) return false;
  const auto whole = std::ranges::count_if(parts, &FoundPart::whole);
  return static_cast<std::uint32_t>(whole) == parts.front().part.count;
}

}  // namespace feedrate::converters
