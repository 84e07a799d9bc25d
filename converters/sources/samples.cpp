// The source `samples`: what another program sends through pipes. sample_pipes.h has the format.

#include "converters/sources/sample_pipes.h"
#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

class SamplesSource final : public Source {
 public:
  SamplesSource()
      : Source("samples", "samples from another program, such as feedrate.write() in Python") {}

  std::vector<std::string> splits(std::span<const fs::path> inputs) const override {
    return {description(inputs).split};
  }
  std::unique_ptr<SampleStream> open(std::span<const fs::path> inputs,
                                     std::string_view) const override {
    return open_sample_pipes(description(inputs));
  }
  std::vector<fs::path> files(std::span<const fs::path>, std::string_view) const override {
    return {};
  }
  std::vector<Sidecar::Input> inputs(std::span<const fs::path> inputs,
                                     std::string_view) const override {
    return {{.name = std::string(name()), .bytes = 0, .hash = description(inputs).identity}};
  }
  std::string identity(std::span<const fs::path> inputs) const override {
    return join("samples ", description(inputs).identity);
  }

 private:
  static PipedSamples description(std::span<const fs::path> inputs) {
    if (inputs.size() == 1) return read_piped_samples(inputs.front());
    throw Error(join("samples: expected one file that describes them, found ", inputs.size()));
  }
};

const SamplesSource samples_row;

}  // namespace

const Source& samples_source = samples_row;

}  // namespace feedrate::converters
