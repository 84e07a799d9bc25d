#pragma once
// Run: one measured point, and one line of results.jsonl. A value that could not be measured, or
// that has no meaning for the kind of row, is absent here and null there; never 0.

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/measure/environment.h"
#include "tools/measure/telemetry.h"

namespace feedrate::tools {

/// What a row measures: the loader alone, the trainer on data already in memory, or both at work;
/// and of the trainer what remains when nothing is copied to its device.
inline constexpr std::string_view supply_kind = "supply";
inline constexpr std::string_view compute_kind = "compute";
inline constexpr std::string_view demand_kind = "demand";
inline constexpr std::string_view delivered_kind = "delivered";
/// In the order in which people read them.
inline constexpr std::array row_kinds{supply_kind, compute_kind, demand_kind, delivered_kind};
/// Whether no loader is at work: then it matters not which dataset of the same images is named.
constexpr bool is_trainer_alone(std::string_view kind) {
  return kind == demand_kind || kind == compute_kind;
}

/// Where samples came from when measuring began: the page cache, or storage.
inline constexpr std::string_view warm_cache = "warm";
inline constexpr std::string_view cold_cache = "cold";

/// What the keys of a row mean; another number is another meaning.
inline constexpr unsigned row_schema = 2;

/// Whose loader and trainer a row measures: ours, or a framework's.
inline constexpr std::string_view own_tool = "feedrate";

struct Run {
  unsigned schema = row_schema;
  std::string kind;
  std::string tool{own_tool};  // or the framework that trained: pytorch, …
  std::string dataset;         // path as given
  std::string format;
  std::string codec;
  std::string recipe;
  std::optional<std::string> network;  // absent for supply, as are device and precision
  std::optional<std::string> device;
  std::optional<std::string> precision;
  std::uint32_t batch = 0;
  std::string cache{warm_cache};
  std::optional<unsigned> threads;          // of the loader; absent for the trainer alone
  std::optional<unsigned> compute_threads;  // of the trainer; absent for supply
  std::optional<unsigned> workers_seen;     // loader threads that did some of the work
  std::vector<double> repeats;              // images/s of each
  double images_per_second = 0;             // their median
  std::optional<double> predicted;          // images/s, told before it was measured
  std::optional<double> warmup_seconds;     // left out, of the median repeat
  std::optional<double> stall_percent;      // of the median repeat; delivered only
  std::optional<double> wait_ms;            // of which for each step, where nothing hid it
  std::optional<double> read_us;            // of a worker for an image, of the median repeat
  std::optional<double> decode_us;
  std::optional<double> augment_us;
  std::optional<double> cpu_us;  // of the processor for an image, all threads, while measuring
  std::string digest;            // of the dataset: rows compare only when it is equal
  Telemetry telemetry;           // of the median repeat
  Environment environment;
};

/// (largest − smallest) / median, in percent; 0 for a single repeat.
double spread_percent(const Run& run);
/// "lmdb × raw"
std::string format_and_codec(const Run& run);

/// One line without its newline.
std::string to_json_line(const Run& run);
/// Throws Error naming `file` and `line` when the text is not such a row, or one of another schema.
Run parse_run(std::string_view text, const std::filesystem::path& file, std::size_t line);

/// What a file of rows holds.
struct Rows {
  std::vector<Run> runs;
  std::vector<std::string> refused;  // a sentence with file and line for each that is no such row
};
/// Throws Error when the file cannot be read or holds no row at all: its first line's problem.
Rows read_rows(const std::filesystem::path& file);

}  // namespace feedrate::tools
