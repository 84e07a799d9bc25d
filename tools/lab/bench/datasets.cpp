#include "tools/lab/bench/datasets.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "formats/base/cores.h"
#include "formats/base/error.h"
#include "formats/base/without_slash.h"
#include "formats/remote/url.h"
#include "formats/verify/verify.h"
#include "loader/loader.h"
#include "loader/recipe.h"
#include "tools/console/advised_error.h"
#include "tools/console/console.h"
#include "tools/console/text.h"
#include "tools/lab/bench/peer.h"
#include "tools/lab/jobs/cold.h"
#include "tools/lab/jobs/device_decoding.h"
#include "tools/lab/jobs/devices.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

/// Used where a dataset does not state its number of classes; any number serves for these checks.
constexpr std::uint32_t some_classes = 10;

/// Throws Error when the row's recipe or network does not suit the dataset's images.
void check_images(const Row& row, const BenchDataset& dataset) {
  const Shape taken = recipe(row.recipe).shape(dataset.shape);
  if (!row.network) return;
  try {
    network(*row.network).build(taken, dataset.classes > 0 ? dataset.classes : some_classes);
  } catch (const Error& problem) {
    fail(dataset.path, *row.network, " cannot take its images (", shape_text(taken),
         row.recipe == "none" ? "" : join(" by ", row.recipe), "): ", problem.what());
  }
}

// Only the backend knows its precisions, so compile a small network for it.
void check_precision(const std::string& device, const std::string& precision) {
  const Network& small = network("lenet");
  constexpr std::uint32_t batch = 8;
  usable_backend(device).compile(
      make_plan(small.build(small.published_input(), small.published_classes()), batch),
      {.precision = precision});
}

}  // namespace

std::vector<std::filesystem::path> without_repeats(
    const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> found;
  for (const std::filesystem::path& path : paths) {
    const std::filesystem::path plain = formats::without_slash(path);
    const auto is_same = [&](const auto& other) { return same_place(plain, other); };
    if (std::ranges::none_of(found, is_same)) found.push_back(plain);
  }
  return found;
}

BenchDataset describe_dataset(const std::filesystem::path& path) {
  if (const std::string shown = without_secrets(path.native()); shown != path.native()) {
    fail(shown,
         "the URL has a user, a query or a fragment, which rows would keep: bench takes plain "
         "URLs; credentials of S3 come from the environment");
  }
  const std::unique_ptr<Dataset> dataset = open_dataset(path);
  const DatasetInfo& info = dataset->info();
  BenchDataset found{path, info.format, info.codec, "", info.shape, info.classes};
  if (info.sidecar) found.digest = info.sidecar->digest;
  return found;
}

void find_digests(std::vector<BenchDataset>& datasets) {
  for (BenchDataset& dataset : datasets) {
    if (!dataset.digest.empty()) continue;
    note(
        fmt::format("{} has no digest beside it; reading every image once", dataset.path.string()));
    const Verification result = verify(*open_dataset(dataset.path), usable_cores());
    if (!result.findings.empty()) {
      fail(result.findings.front().place, result.findings.front().problem);
    }
    dataset.digest = result.digest.digest;
  }
}

void make_warm(std::span<const BenchPoint> points) {
  std::set<std::string> done;
  for (const BenchPoint& point : points) {
    const Row& row = point.row;
    const bool is_asked = row.cache == warm_cache && url_scheme(row.dataset).empty();
    if (is_asked && done.insert(row.dataset).second) make_warm(*open_dataset(row.dataset));
  }
}

void check_decodes(const BenchOptions& options) {
  const auto device = std::ranges::find(options.decodes, device_decode);
  if (device == options.decodes.end()) return;
  if (std::ranges::count(options.devices, "cpu") == std::ssize(options.devices)) {
    throw Misused("'decode device' needs a device other than the CPU: --device cuda");
  }
  for (const std::string& name : options.recipes) expect_no_work_on_pixels(recipe(name));
}

void check_compute_threads(const BenchOptions& options) {
  if (options.compute_threads == 0) return;
  const std::vector<std::string> devices = trained_on(options);
  if (std::ranges::find(devices, "cpu") != devices.end()) return;
  throw Misused("'compute-threads' are those of a CPU: --device cpu");
}

void check_points(const std::vector<BenchPoint>& points,
                  const std::vector<BenchDataset>& datasets) {
  std::set<std::tuple<std::string, std::string, std::string>> images;
  std::set<std::pair<std::string, std::string>> precisions;
  for (const BenchPoint& point : points) {
    const Row& row = point.row;
    const auto dataset = std::ranges::find_if(
        datasets, [&](const BenchDataset& one) { return one.path.string() == row.dataset; });
    if (images.emplace(row.dataset, row.recipe, row.network.value_or("")).second) {
      check_images(row, *dataset);
    }
    if (row.tool == own_tool && row.device && !row.emulates &&
        precisions.emplace(*row.device, *row.precision).second) {
      check_precision(*row.device, *row.precision);
    }
  }
}

}  // namespace feedrate::tools
