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
template <class RunType, class Field>
void for_each_field(RunType& run, const Field& field) {
  field("schema", run.schema);
  field("kind", run.kind);
  field("tool", run.tool);
  field("dataset", run.dataset);
  field("format", run.format);
  field("codec", run.codec);
  field("decode", run.decode);
  field("recipe", run.recipe);
  field("network", run.network);
  field("device", run.device);
  field("precision", run.precision);
  field("batch", run.batch);
  field("cache", run.cache);
  field("threads", run.threads);
  field("compute_threads", run.compute_threads);
  field("workers_seen", run.workers_seen);
  field("repeats", run.repeats);
  field("images_per_second", run.images_per_second);
  field("predicted", run.predicted);
  field("warmup_seconds", run.warmup_seconds);
  field("stall_percent", run.stall_percent);
  field("wait_ms", run.wait_ms);
  field("read_us", run.read_us);
  field("decode_us", run.decode_us);
  field("augment_us", run.augment_us);
  field("cpu_us", run.cpu_us);
  field("digest", run.digest);
  for_each_telemetry_field(run.telemetry, field);
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

double spread_percent(const Run& run) {
  if (run.repeats.size() < 2 || run.images_per_second <= 0) return 0;
  const auto [low, high] = std::minmax_element(run.repeats.begin(), run.repeats.end());
  return 100 * (*high - *low) / run.images_per_second;
}

std::string format_and_codec(const Run& run) {
  const std::string_view how = run.decode == scaled_decode   ? ", scaled"
                               : run.decode == device_decode ? ", decoded on the device"
                                                             : "";
  return join(run.format, " × ", run.codec, how);
}

std::string to_json_line(const Run& run) {
  ordered_json object;
  for_each_field(run, Put{object});
  ordered_json environment;
  for_each_environment_field(run.environment, Put{environment});
  object["environment"] = std::move(environment);
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

Run parse_run(std::string_view text, const std::filesystem::path& file, std::size_t line) {
  Run run;
  try {
    ordered_json object = ordered_json::parse(text);
    if (!object.is_object()) throw Error("expected an object {…}");
    refuse_other_schema(object);
    object.emplace("decode", full_decode);  // rows from before there was a choice lack it
    for_each_field(run, Take{object});
    const ordered_json& environment = member(object, "environment");
    if (!environment.is_object()) refuse("environment", "an object", environment);
    for_each_environment_field(run.environment, Take{environment});
  } catch (const Error& problem) {
    fail(file, "line ", line, ": not a row of results: ", problem.what());
  } catch (const nlohmann::json::parse_error& problem) {
    fail(file, "line ", line, ": not a row of results: no JSON from byte ", problem.byte, " of ",
         text.size(), "; is it cut off?");
  } catch (const nlohmann::json::exception&) {
    fail(file, "line ", line, ": not a row of results: a number is too large");
  }
  if (std::ranges::find(row_kinds, run.kind) == row_kinds.end()) {
    fail(file, "line ", line, ": kind '", run.kind, "' is none of ",
         fmt::format("{}", fmt::join(row_kinds, ", ")));
  }
  if (run.cache != warm_cache && run.cache != cold_cache) {
    fail(file, "line ", line, ": cache '", run.cache, "' is neither warm nor cold");
  }
  constexpr std::string_view decodes[] = {full_decode, scaled_decode, device_decode};
  if (std::ranges::find(decodes, run.decode) == std::end(decodes)) {
    fail(file, "line ", line, ": decode '", run.decode, "' is neither full, scaled nor device");
  }
  if (run.repeats.empty()) fail(file, "line ", line, ": no repeats");
  const double highest = *std::max_element(run.repeats.begin(), run.repeats.end());
  if (std::max(run.images_per_second, highest) > max_images_per_second) {
    fail(file, "line ", line, ": more than ", max_images_per_second, " images/s");
  }
  if (!is_trainer_alone(run.kind) && !run.threads) fail(file, "line ", line, ": threads is null");
  if (run.kind != supply_kind && !(run.network && run.device && run.precision)) {
    fail(file, "line ", line, ": network, device or precision is null");
  }
  return run;
}

Rows read_rows(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream || std::filesystem::is_directory(file)) fail(file, "cannot read it");
  Rows rows;
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.empty()) continue;
    try {
      rows.runs.push_back(parse_run(line, file, number));
    } catch (const Error& problem) {
      rows.refused.emplace_back(problem.what());
    }
  }
  if (rows.runs.empty() && !rows.refused.empty()) throw Error(rows.refused.front());
  if (rows.runs.empty()) fail(file, "holds no rows");
  return rows;
}

}  // namespace feedrate::tools
