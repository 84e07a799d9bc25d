#include "converters/pipeline/crops.h"

#include <algorithm>

#include "converters/pipeline/describe.h"
#include "formats/base/cores.h"
#include "formats/crops/crop_index.h"

namespace feedrate::converters {
using namespace formats;

void add_crop_index(const std::filesystem::path& directory, Sidecar& sidecar, unsigned threads,
                    const ProgressCallback& progress) {
  if (std::ranges::find(sidecar.options, crops_option) == sidecar.options.end()) return;
  try {
    make_crop_index(*container(sidecar.format).open(directory), crop_index_file(directory),
                    threads == 0 ? usable_cores() : threads, progress);
  } catch (const NothingToIndex&) {
    sidecar.notes.emplace_back("no crop index: it holds no baseline JPEG that is large enough");
  }
}

}  // namespace feedrate::converters
