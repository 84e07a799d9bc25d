#pragma once
// Row: one measured point, one line of results.jsonl. A value that could not be measured, or has no
// meaning for the kind of row, is absent here and null in the file, never 0.

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loader/verdict.h"
#include "tools/lab/measure/environment.h"
#include "tools/lab/measure/server_work.h"
#include "tools/lab/measure/telemetry.h"

namespace feedrate::tools {

/// What a row measures: supply is the loader alone, demand the trainer on batches already in
/// memory, compute the same without copies to its device, delivered both at work.
inline constexpr std::string_view supply_kind = "supply";
inline constexpr std::string_view compute_kind = "compute";
inline constexpr std::string_view demand_kind = "demand";
inline constexpr std::string_view delivered_kind = "delivered";
/// In the order in which they are shown.
inline constexpr std::array row_kinds{supply_kind, compute_kind, demand_kind, delivered_kind};
/// True for kinds without a loader; any dataset of the same images gives the same batches then.
constexpr bool is_trainer_alone(std::string_view kind) {
  return kind == demand_kind || kind == compute_kind;
}

/// Where samples came from when measuring began: the page cache (warm) or storage (cold).
inline constexpr std::string_view warm_cache = "warm";
inline constexpr std::string_view cold_cache = "cold";

/// How JPEGs were decoded: by the loader in full or scaled (loader::DecodedSize) or, packed ones, by
/// the device.
inline constexpr std::string_view full_decode = "full";
inline constexpr std::string_view scaled_decode = "scaled";
inline constexpr std::string_view device_decode = "device";

/// Version of the rows' keys and of their meaning.
inline constexpr unsigned row_schema = 2;
/// Since when: year and month.
inline constexpr std::string_view row_schema_since = "2026-11";

/// A DataLoader of PyTorch, as its scripts have it.
inline constexpr std::string_view torch_tool = "pytorch";
/// The tool of our own rows; the others name a framework.
inline constexpr std::string_view own_tool = "feedrate";

struct Row {
  unsigned schema = row_schema;
  std::string kind;
  std::string tool{own_tool};  // or a framework: "pytorch", …
  std::string dataset;         // path as given
  std::string format;
  std::string codec;  // "" in a row of a script, as is the recipe
  std::string decode{full_decode};
  std::string recipe;
  std::optional<std::string> network;  // absent for supply, as are device and precision
  std::optional<std::string> device;
  std::optional<std::string>
      precision;  // absent also where an emulated device or a script has none
  std::optional<std::string> emulates;   // the rate of the emulated device, and who says so
  std::optional<double> emulated_rate;   // in images/s
  std::uint32_t batch = 0;
  std::string cache{warm_cache};
  std::optional<std::string> servers;       // settings other than usual, of a dataset's URL
  std::optional<std::uint64_t> shuffle_blocks;  // of so many images; absent: none
  std::optional<unsigned> threads;          // of the loader; absent where none is at work
  std::optional<unsigned> compute_threads;  // of the trainer; absent for supply
  std::optional<unsigned> workers_seen;     // loader threads that did some of the work
  std::vector<double> repeats;              // images/s of each repeat
  double images_per_second = 0;             // their median
  std::optional<double> predicted;          // images/s, predicted before measuring
  std::optional<double> warmup_seconds;     // not counted; of the median repeat
  std::optional<double> stall_percent;      // of the median repeat; delivered only
  std::optional<double> wait_ms;            // exposed waiting for each step
  std::optional<double> read_us;            // a worker's time for an image; median repeat
  std::optional<double> decode_us;
  std::optional<double> augment_us;
  std::optional<double> cpu_us;     // processor time for an image, all threads, while measuring
  std::optional<double> kernel_us;  // of it, in the kernel
  std::optional<ServerWork> remote;  // of the median repeat, from opening on; absent: no server
  std::optional<std::string> cause;  // of a script: why its loop waits, in sentences
  std::string digest;            // of the dataset; only rows with equal digests compare
  Telemetry telemetry;           // of the median repeat
  Environment environment;
};

/// Whether 'feedrate diagnose' saw it in a script: what the images are and how they are made is not known.
inline bool is_of_script(const Row& row) { return row.recipe.empty(); }
/// What a row's threads are called: "worker", those of a script's DataLoader; else "loader thread".
inline std::string_view worker_of(bool of_script, std::string_view tool) {
  return of_script && tool == torch_tool ? "worker" : loader::loader_thread;
}

/// (largest − smallest) / median, in percent; 0 for a single repeat.
double spread_percent(const Row& row);
/// "lmdb × raw", "lmdb × jpeg, scaled", "lmdb × packed, decoded on the device",
/// "recordio × jpeg, blocks of 64, --cache-dir cache"
std::string format_and_codec(const Row& row);

/// One line of results.jsonl, without the newline.
std::string to_json_line(const Row& row);
/// Parses such a line. Throws Error naming `file` and `line` when it is malformed or of another
/// schema.
Row parse_row(std::string_view text, const std::filesystem::path& file, std::size_t line);

/// The content of a results file.
struct ReadRows {
  std::vector<Row> rows;
  std::vector<std::string> refused;  // why, with file and line, for each line left out
};
/// Throws Error when the file cannot be read or holds no valid row; then with the first line's
/// problem.
ReadRows read_rows(const std::filesystem::path& file);

}  // namespace feedrate::tools
