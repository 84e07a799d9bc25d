#include "tools/lab/advise/trial.h"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <span>

#include "converters/convert.h"
#include "formats/base/cores.h"
#include "formats/base/error.h"
#include "formats/crops/crop_index.h"
#include "tools/lab/measure/row.h"

namespace feedrate::tools {
using namespace formats;
using namespace converters;

namespace {

namespace fs = std::filesystem;

std::uint64_t bytes_in(const fs::path& directory) {
  std::uint64_t sum = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) sum += entry.file_size();
  }
  return sum;
}

// Yields only the chosen samples of another stream.
class ChosenStream final : public SampleStream {
 public:
  /// `stream` is seekable.
  ChosenStream(std::unique_ptr<SampleStream> stream, std::span<const std::uint64_t> indices)
      : stream_(std::move(stream)), indices_(indices), info_(stream_->info()) {
    info_.size = indices_.size();
  }

  const StreamInfo& info() const override { return info_; }
  bool next(Sample& sample) override {
    if (next_ == indices_.size()) return false;
    stream_->seek(indices_[next_++]);
    return stream_->next(sample);
  }
  std::string_view problem() const override { return stream_->problem(); }
  bool lasting() const override { return stream_->lasting(); }
  void give_back(Bytes bytes) override { stream_->give_back(bytes); }

 private:
  std::unique_ptr<SampleStream> stream_;
  std::span<const std::uint64_t> indices_;
  StreamInfo info_;
  std::size_t next_ = 0;
};

// Returns the seconds that it takes.
double index_crops(const fs::path& path) {
  const auto start = std::chrono::steady_clock::now();
  try {
    make_crop_index(*open_dataset(path), crop_index_file(path), usable_cores());
  } catch (const NothingToIndex&) {  // the trial will then show no gain
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

ScratchDirectory::ScratchDirectory() {
  std::string pattern = (fs::temp_directory_path() / "feedrate-advise-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) fail_errno(pattern, "cannot create the directory", errno);
  path_ = pattern;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Trial try_candidate(const Candidate& candidate, const Dataset& dataset, const TrialSample& images) {
  Trial trial;
  trial.scratch = std::make_unique<ScratchDirectory>();
  const fs::path& path = trial.scratch->path();
  const std::vector<fs::path> inputs = {dataset.info().path};
  const Source& from = source("dataset");
  ConvertOptions settings;
  settings.encoding = candidate.encoding;
  settings.resize = candidate.resize;
  settings.threads = usable_cores();
  const std::string split = from.splits(inputs).front();
  const Conversion done =
      convert(std::make_unique<ChosenStream>(from.open(inputs, split), images.indices),
              {*candidate.container, path, split}, settings);

  const double index_seconds = candidate.crops ? index_crops(path) : 0;
  trial.dataset = open_dataset(path);
  const double scale = static_cast<double>(dataset.size()) / static_cast<double>(done.samples);
  trial.variant.name = candidate.name();
  trial.variant.bytes = static_cast<std::uint64_t>(scale * static_cast<double>(bytes_in(path)));
  if (done.samples < dataset.size()) {
    trial.variant.doubt =
        std::hypot(images.doubt, unforeseen_doubt(images, survey(*trial.dataset)));
  }
  trial.convert_seconds = scale * (candidate.crops ? index_seconds : done.seconds);
  return trial;
}

}  // namespace feedrate::tools
