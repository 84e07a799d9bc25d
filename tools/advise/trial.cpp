#include "tools/advise/trial.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "converters/convert.h"
#include "formats/cores.h"
#include "formats/error.h"
#include "tools/row.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

// Enough that small images do not lie in the processor's caches, as all of them would not.
constexpr std::uint64_t most_pixels = std::uint64_t{256} << 20;  // bytes
constexpr std::uint64_t most_images = 100'000;
constexpr std::uint64_t least_images = 64;

class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string pattern = (fs::temp_directory_path() / "feedrate-advise-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) fail_errno(pattern, "cannot make it", errno);
    path_ = pattern;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::uint64_t bytes_in(const fs::path& directory) {
  std::uint64_t sum = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) sum += entry.file_size();
  }
  return sum;
}

// Twice the standard error of the mean size of an image, as a share: images of more bytes take more
// of everything.
double sampling_doubt(const Dataset& dataset) {
  const Survey looked = survey(dataset);
  const Quantiles& bytes = looked.bytes;
  // From 5 to 95 of 100 lie 3.29 standard deviations of a normal distribution.
  const double deviation = static_cast<double>(bytes.high - bytes.low) / 3.29;
  const double mean = static_cast<double>(looked.total_bytes) /
                      static_cast<double>(std::max<std::size_t>(1, looked.samples.size()));
  return mean > 0 ? 2 * deviation / mean / std::sqrt(static_cast<double>(dataset.size())) : 0;
}

}  // namespace

std::uint64_t trial_images(const Dataset& dataset, const Survey& survey) {
  const std::uint64_t channels = std::max<std::uint32_t>(1, dataset.info().shape.channels);
  const std::uint64_t pixels =
      std::max<std::uint64_t>(1, survey.heights.median * survey.widths.median * channels);
  return std::min(dataset.size(), std::clamp(most_pixels / pixels, least_images, most_images));
}

Trial try_candidate(const Candidate& candidate, const Dataset& dataset, const Recipe& recipe,
                    const TrialOptions& options) {
  const ScratchDirectory scratch;
  const std::vector<fs::path> inputs = {dataset.info().path};
  const Source& from = source("dataset");
  ConvertOptions settings;
  settings.encoding = candidate.encoding;
  settings.resize = candidate.resize;
  settings.shuffle = options.supply.seed;
  settings.limit = options.images;
  settings.threads = usable_cores();
  const std::string split = from.splits(inputs).front();
  const Conversion done =
      convert(from.open(inputs, split), *candidate.container, scratch.path(), split, settings);

  const std::unique_ptr<Dataset> converted = open_dataset(scratch.path());
  const double scale = static_cast<double>(dataset.size()) / static_cast<double>(done.samples);
  Trial trial;
  trial.way.name = candidate.name();
  trial.way.bytes =
      static_cast<std::uint64_t>(scale * static_cast<double>(bytes_in(scratch.path())));
  if (done.samples < dataset.size()) trial.way.doubt = sampling_doubt(*converted);
  trial.convert_seconds = scale * done.seconds;
  SupplyOptions supply = options.supply;
  supply.threads = 1;
  trial.way.one = measure_supply(*converted, recipe, supply);
  supply.threads = options.most_threads;
  trial.way.most = supply.threads > 1 ? measure_supply(*converted, recipe, supply) : trial.way.one;
  return trial;
}

}  // namespace feedrate
