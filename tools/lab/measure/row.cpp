#include "tools/lab/measure/row.h"
#include "tools/lab/measure/or_null.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "formats/base/error.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using nlohmann::ordered_json;

/// Calls `field(key, member)` for every member of a row: the only list of its keys, in order.
template <class RowType, class Field>
void for_each_field(RowType& row, const Field& field) {
  field("schema", row.schema);
  field("kind", row.kind);
  field("tool", row.tool);
  field("dataset", row.dataset);
  field("format", row.format);
  field("codec", row.codec);
  field("decode", row.decode);
  field("recipe", row.recipe);
  field("network", row.network);
  field("device", row.device);
  field("precision", row.precision);
  field("batch", row.batch);
  field("cache", row.cache);
  field("threads", row.threads);
  field("compute_threads", row.compute_threads);
  field("workers_seen", row.workers_seen);
  field("repeats", row.repeats);
  field("images_per_second", row.images_per_second);
  field("predicted", row.predicted);
  field("warmup_seconds", row.warmup_seconds);
  field("stall_percent", row.stall_percent);
  field("wait_ms", row.wait_ms);
  field("read_us", row.read_us);
  field("decode_us", row.decode_us);
  field("augment_us", row.augment_us);
  field("cpu_us", row.cpu_us);
  field("digest", row.digest);
  for_each_telemetry_field(row.telemetry, field);
}

template <class EnvironmentType, class Field>
void for_each_environment_field(EnvironmentType& environment, const Field& field) {
  field("cpu", environment.cpu);
  field("cores", environment.cores);
  field("cores_present", environment.cores_present);
  field("quota", environment.quota);
  field("memory_mib", environment.memory_mib);
  field("os", environment.os);
  field("kernel", environment.kernel);
  field("compiler", environment.compiler);
  field("build_type", environment.build_type);
  field("flags", environment.flags);
  field("commit", environment.commit);
  field("version", environment.version);
  field("libraries", environment.libraries);
  field("gpu", environment.gpu);
  field("gpu_driver", environment.gpu_driver);
  field("cuda", environment.cuda);
  field("cudnn", environment.cudnn);
  field("file_system", environment.file_system);
  field("mount_options", environment.mount_options);
  field("disk", environment.disk);
  field("disk_rotational", environment.disk_rotational);
  field("command", environment.command);
  field("time", environment.time);
}

/// Writes members into an object.
struct Put {
  ordered_json& object;
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) const {
    object[key] = or_null<ordered_json>(value);
  }
  template <class T>
  void operator()(const char* key, const T& value) const {
    object[key] = value;
  }
};

[[noreturn]] void refuse(const char* key, std::string_view expected, const ordered_json& found) {
  throw Error(join(key, ": expected ", expected, ", found ", found.dump()));
}

/// take() accepts only the member's own type and range: the JSON library would convert -1 to four
/// billion, and true to 1.
void take(const char* key, const ordered_json& found, std::string& value) {
  if (!found.is_string()) refuse(key, "a text", found);
  value = found.get<std::string>();
}
void take(const char* key, const ordered_json& found, bool& value) {
  if (!found.is_boolean()) refuse(key, "true or false", found);
  value = found.get<bool>();
}
void take(const char* key, const ordered_json& found, double& value) {
  if (!found.is_number() || found.get<double>() < 0) refuse(key, "a number of at least 0", found);
  value = found.get<double>();
}
template <class T>
requires std::is_unsigned_v<T>
void take(const char* key, const ordered_json& found, T& value) {
  constexpr T max = std::numeric_limits<T>::max();
  if (!found.is_number_unsigned() || found.get<std::uint64_t>() > max) {
    refuse(key, join("a whole number from 0 to ", max), found);
  }
  value = found.get<T>();
}
void take(const char* key, const ordered_json& found, std::vector<double>& values) {
  if (!found.is_array()) refuse(key, "a list of numbers", found);
  for (const ordered_json& one : found) take(key, one, values.emplace_back());
}

/// The member of that name; throws Error with its name when it is missing.
const ordered_json& member(const ordered_json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) throw Error(join("lacks the key '", key, "'"));
  return *found;
}

/// Reads members from an object. Throws Error on a missing key or a value of another type.
struct Take {
  const ordered_json& object;
  template <class T>
  void operator()(const char* key, std::optional<T>& value) const {
    const ordered_json& found = member(object, key);
    if (!found.is_null()) take(key, found, value.emplace());
  }
  template <class T>
  void operator()(const char* key, T& value) const {
    take(key, member(object, key), value);
  }
};

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
  return join(row.format, " × ", row.codec, how);
}

std::string to_json_line(const Row& row) {
  ordered_json object;
  for_each_field(row, Put{object});
  ordered_json environment;
  for_each_environment_field(row.environment, Put{environment});
  object["environment"] = std::move(environment);
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

Row parse_row(std::string_view text, const std::filesystem::path& file, std::size_t line) {
  Row row;
  try {
    ordered_json object = ordered_json::parse(text);
    if (!object.is_object()) throw Error("expected an object {…}");
    refuse_other_schema(object);
    object.emplace("decode", full_decode);  // rows from before there was a choice lack it
    for_each_field(row, Take{object});
    const ordered_json& environment = member(object, "environment");
    if (!environment.is_object()) refuse("environment", "an object", environment);
    for_each_environment_field(row.environment, Take{environment});
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
  if (row.kind != supply_kind && !(row.network && row.device && row.precision)) {
    fail(file, "line ", line, ": network, device or precision is null");
  }
  return row;
}

ReadRows read_rows(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream || std::filesystem::is_directory(file)) fail(file, "cannot read it");
  ReadRows found;
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.empty()) continue;
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
