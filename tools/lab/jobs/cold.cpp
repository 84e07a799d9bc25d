#include "tools/lab/jobs/cold.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "formats/base/error.h"
#include "formats/base/stop.h"
#include "formats/base/stopwatch.h"
#include "formats/crops/crop_index.h"
#include "formats/dataset.h"
#include "formats/io/file.h"
#include "formats/io/page_cache.h"
#include "tools/console/console.h"
#include "tools/console/text.h"
#include "tools/lab/measure/environment.h"

namespace feedrate::tools {
using namespace formats;

namespace {

constexpr double longest_reading = 60;  // seconds

std::vector<std::filesystem::path> files_of(const Dataset& dataset) {
  std::vector<std::filesystem::path> files;
  const auto add = [&files](const Dataset& member) {
    std::ranges::copy(sample_files(member), std::back_inserter(files));
    if (const FoundCropIndex crops = find_crop_index(member); crops.index) {
      files.push_back(crops.index->path());
    }
  };
  if (dataset.members().empty()) add(dataset);
  for (const auto& member : dataset.members()) add(*member);
  return files;
}

}  // namespace

double make_cold(const Dataset& dataset) {
  if (dataset.info().is_remote()) {
    fail(dataset.info().path, "is on a server, and --cold is for files of this machine");
  }
  const std::vector<std::filesystem::path> files = files_of(dataset);
  evict_from_page_cache(files);
  const double share = in_memory(files).share();
  if (share > cold_share) {
    warn(
        fmt::format("{:.0f} % of {} is still in memory: another process may have mapped it, or "
                    "the files are not yours, so that Linux does not tell",
                    100 * share, shown_path(dataset.info().path)));
  }
  return share;
}

void make_warm(const Dataset& dataset) {
  if (dataset.info().is_remote()) return;
  const std::vector<std::filesystem::path> files = files_of(dataset);
  const InMemory before = in_memory(files);
  if (before.share() >= 1 - cold_share) return;
  const std::string name = shown_path(dataset.info().path);
  const std::uint64_t memory = machine_memory_mib() << 20;
  if (before.bytes > memory) {
    warn(
        fmt::format("{} has {}, more than the memory, {}: what is measured comes from storage, too",
                    name, bytes_text(before.bytes), bytes_text(memory)));
    return;
  }
  note(fmt::format("reading {} into memory: {:.0f} % of its {} are there", name,
                   100 * before.share(), bytes_text(before.bytes)));
  const Stopwatch stopwatch;
  struct LongEnough {};
  try {
    for (const std::filesystem::path& file : files) {
      each_block(file, [&](Bytes) {
        throw_if_stop_requested();
        if (stopwatch.seconds() > longest_reading) throw LongEnough();
      });
    }
  } catch (const LongEnough&) {
  }
  const double share = in_memory(files).share();
  if (share < 1 - cold_share) {
    warn(fmt::format("{:.0f} % of {} are in memory now: what is measured comes from storage, too",
                     100 * share, name));
  }
}

}  // namespace feedrate::tools
