#include "tools/lab/measure/row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>

#include "formats/base/error.h"
#include "tools/console/json_fields.hpp"
#include "tools/lab/measure/row_fields.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using nlohmann::ordered_json;

// Far above any machine's rate: keeps the scales of charts finite.
constexpr std::uint64_t max_images_per_second = 1'000'000'000'000;

/// Rows of schema 1 have no "schema" key, only a kind.
void refuse_other_schema(const ordered_json& object) {
  const bool is_first = !object.contains("schema") && object.contains("kind");
  const ordered_json schema = is_first ? ordered_json(1) : object.value("schema", ordered_json());
  if (schema.is_number() && schema != row_schema) {
    throw Error(join("it is of schema ", schema.dump(), ", this feedrate reads schema ", row_schema,
                     "; measure it again"));
  }
}

/// Of an earlier version's row: "5910.0 images/s: who says so". Nothing where the text begins otherwise.
std::optional<double> rate_told(const std::string& emulates) {
  double rate = 0;
  const char* const end = emulates.data() + emulates.size();
  const auto [stop, error] = std::from_chars(emulates.data(), end, rate);
  const bool is_rate = error == std::errc() && std::string_view(stop, end).starts_with(" images/s");
  return is_rate && rate > 0 && rate <= max_images_per_second ? std::optional(rate) : std::nullopt;
}

}  // namespace

double spread_percent(const Row& row) {
  if (row.repeats.size() < 2 || row.images_per_second <= 0) return 0;
  const auto [low, high] = std::minmax_element(row.repeats.begin(), row.repeats.end());
  return 100 * (*high - *low) / row.images_per_second;
}

std::string format_and_codec(const Row& row) {
  const std::string_view how = row.decode == scaled_decode   ? ", scaled"
                               : row.decode == device_decode ? ", decoded on the device"
                                                             : "";
  return join(row.format, row.codec.empty() ? "" : " × ", row.codec, how,
              row.shuffle_blocks ? join(", blocks of ", *row.shuffle_blocks) : "",
              row.servers ? ", " + *row.servers : "");
}

Description describe_rows() { return description_of(Row{}); }

std::string to_json_line(const Row& row) { return json_line(json_of(row)); }

Row parse_row(std::string_view text, const std::filesystem::path& file, std::size_t line) {
  Row row;
  try {
    const ordered_json object = ordered_json::parse(text);
    if (!object.is_object()) throw Error("expected an object {…}");
    refuse_other_schema(object);
    for_each_field(row, ReadJson(object));
  } catch (const Error& problem) {
    fail(file, "line ", line, ": not a row of results: ", problem.what());
  } catch (const nlohmann::json::parse_error& problem) {
    fail(file, "line ", line, ": not a row of results: no JSON from byte ", problem.byte, " of ",
         text.size(), "; is it cut off?");
  } catch (const nlohmann::json::exception&) {
    fail(file, "line ", line, ": not a row of results: a number is too large");
  }
  if (std::ranges::find(row_kinds, row.kind) == row_kinds.end()) {
    fail(file, "line ", line, ": kind '", row.kind, "' is none of ",
         fmt::format("{}", fmt::join(row_kinds, ", ")));
  }
  if (row.cache != warm_cache && row.cache != cold_cache) {
    fail(file, "line ", line, ": cache '", row.cache, "' is neither warm nor cold");
  }
  if (row.emulates && !row.emulated_rate) row.emulated_rate = rate_told(*row.emulates);
  constexpr std::string_view decodes[] = {full_decode, scaled_decode, device_decode};
  if (std::ranges::find(decodes, row.decode) == std::end(decodes)) {
    fail(file, "line ", line, ": decode '", row.decode, "' is neither full, scaled nor device");
  }
  if (row.repeats.empty()) fail(file, "line ", line, ": no repeats");
  const double highest = *std::max_element(row.repeats.begin(), row.repeats.end());
  if (std::max(row.images_per_second, highest) > max_images_per_second) {
    fail(file, "line ", line, ": more than ", max_images_per_second, " images/s");
  }
  if (!is_trainer_alone(row.kind) && !row.threads) fail(file, "line ", line, ": threads is null");
  const bool has_precision = row.precision || row.emulates || is_of_script(row);
  if (row.kind != supply_kind && !(row.network && row.device && has_precision)) {
    fail(file, "line ", line, ": network, device or precision is null");
  }
  return row;
}

ReadRows read_rows(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream || std::filesystem::is_directory(file)) fail(file, "cannot read it");
  ReadRows found;
  std::size_t number = 0;
  std::map<std::string, std::size_t> lines;  // and their numbers
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.empty()) continue;
    // Counted twice, one measurement would look like two that agree.
    const auto [same, added] = lines.try_emplace(line, number);
    if (!added) {
      found.refused.push_back(
          join(file, ": line ", number, ": the same measurement as line ", same->second));
      continue;
    }
    try {
      found.rows.push_back(parse_row(line, file, number));
    } catch (const Error& problem) {
      found.refused.emplace_back(problem.what());
    }
  }
  if (found.rows.empty() && !found.refused.empty()) throw Error(found.refused.front());
  if (found.rows.empty()) fail(file, "holds no rows");
  return found;
}

}  // namespace feedrate::tools
