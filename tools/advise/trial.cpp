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

ScratchDirectory::ScratchDirectory() {
  std::string pattern = (fs::temp_directory_path() / "feedrate-advise-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) fail_errno(pattern, "cannot make it", errno);
  path_ = pattern;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::uint64_t trial_images(const Dataset& dataset, const Survey& survey) {
  const std::uint64_t channels = std::max<std::uint32_t>(1, dataset.info().shape.channels);
  const std::uint64_t pixels =
      std::max<std::uint64_t>(1, survey.heights.median * survey.widths.median * channels);
  return std::min(dataset.size(), std::clamp(most_pixels / pixels, least_images, most_images));
}

Trial try_candidate(const Candidate& candidate, const Dataset& dataset, std::uint64_t images,
                    std::uint64_t seed) {
  Trial trial;
  trial.scratch = std::make_unique<ScratchDirectory>();
  const fs::path& path = trial.scratch->path();
  const std::vector<fs::path> inputs = {dataset.info().path};
  const Source& from = source("dataset");
  ConvertOptions settings;
  settings.encoding = candidate.encoding;
  settings.resize = candidate.resize;
  settings.shuffle = seed;
  settings.limit = images;
  settings.threads = usable_cores();
  const std::string split = from.splits(inputs).front();
  const Conversion done =
      convert(from.open(inputs, split), *candidate.container, path, split, settings);

  trial.dataset = open_dataset(path);
  const double scale = static_cast<double>(dataset.size()) / static_cast<double>(done.samples);
  trial.way.name = candidate.name();
  trial.way.bytes = static_cast<std::uint64_t>(scale * static_cast<double>(bytes_in(path)));
  if (done.samples < dataset.size()) trial.way.doubt = sampling_doubt(*trial.dataset);
  trial.convert_seconds = scale * done.seconds;
  return trial;
}

}  // namespace feedrate
