#pragma once
// Which points a bench measures, in which order, and with which commands.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/pixels/image.h"
#include "formats/remote/settings.h"
#include "tools/lab/advise/published_rate.h"
#include "tools/lab/bench/condition.h"
#include "tools/lab/bench/emulation.h"
#include "tools/lab/measure/row.h"

namespace feedrate::tools {

/// What `feedrate bench` is asked to measure, by options or by a plan: every combination of the
/// lists.
struct BenchOptions {
  std::vector<std::filesystem::path> paths;
  std::vector<std::string> tools{std::string(own_tool)};
  std::vector<std::string> recipes{"none"};
  std::vector<std::uint32_t> batches{64};
  std::vector<std::string> decodes{std::string(full_decode)};
  std::vector<std::string> caches{std::string(warm_cache)};
  std::vector<unsigned> threads{0, 1, 2, 4};
  std::vector<std::string> networks;  // empty: supply alone
  std::vector<std::string> devices;   // empty: the CPU, unless others are emulated
  std::vector<std::string> emulated;  // devices that are not here, or rates: see emulation_of()
  double host_cores = host_cores_of_a_device;  // that each emulated device keeps busy
  std::vector<std::string> precisions{"fp32"};
  std::vector<Condition> exclude;
  std::vector<Only> only;
  std::vector<PublishedRate> rates{published_rates().begin(), published_rates().end()};
  unsigned compute_threads = 0;  // of a CPU trainer; 0: all cores
  unsigned cores = 0;            // to run on; 0: all
  unsigned repeat = 3;
  double seconds = 2;  // of each repeat
  double decide = 0;   // seconds of further rounds, as long as differences are undecided
  std::uint64_t seed = 1;
  std::uint64_t shuffle_blocks = 0;
  formats::RemoteSettings remote;
};

/// One of the datasets to measure, as rows describe it.
struct BenchDataset {
  std::filesystem::path path;
  std::string format;
  std::string codec;
  std::string digest;      // "": not yet known
  formats::Shape shape{};  // of its first sample
  std::uint32_t classes = 0;
};

/// A point to be measured: a Row without measurements.
struct BenchPoint {
  Row row;
  std::optional<Emulation> emulation{};  // of its trainer
  std::string title() const;             // "supply of lmdb × raw (data/lmdb), batch 64, 2 threads"
  /// Arguments of the process that measures it once with our tool (peer.h: other tools).
  std::vector<std::string> command(const BenchOptions& options) const;
};

/// Plans, for each tool, recipe and batch size:
/// - supply of each dataset, at each thread count, from each cache, by each way to decode;
/// - for each network, device and precision: delivered in the same combinations, and demand once
///   for all datasets of the same images, on one that the tool `reads` where there is one;
/// - with our tool, the same for each emulated trainer.
///
/// Only JPEGs are decoded scaled, where the recipe makes images smaller. Only our own tool lets a
/// device decode, only packed JPEGs, and only where one is among `devices`. Other ways to decode,
/// and points that the conditions exclude, are left out. Sets of images come one after the other;
/// within each, supply, then demand, then delivered (which is predicted from both), warm before
/// cold. Each part is shuffled by the seed alone, so that drift of the machine does not favour one
/// format.
/// Throws Error when nothing is left, when a way to decode suits no point, when an exclusion
/// excludes nothing, or when there are too many points. Pure function, but for `reads`.
std::vector<BenchPoint> plan_bench(
    const BenchOptions& options, const std::vector<BenchDataset>& datasets, unsigned cores,
    const std::function<bool(const Row&)>& reads = [](const Row&) { return true; });

/// Whether both lead to the same file or directory.
bool same_place(const std::filesystem::path& a, const std::filesystem::path& b);

/// True when both rows measure the same thing, however their datasets are spelled.
bool same_point(const Row& a, const Row& b);

/// Devices that train; none where only others are emulated.
std::vector<std::string> trained_on(const BenchOptions& options);

}  // namespace feedrate::tools
