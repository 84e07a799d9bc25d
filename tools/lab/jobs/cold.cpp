#include "tools/lab/jobs/cold.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "formats/base/error.h"
#include "formats/crops/crop_index.h"
#include "formats/dataset.h"
#include "formats/io/page_cache.h"
#include "tools/console/console.h"

namespace feedrate::tools {
using namespace formats;

double make_cold(const Dataset& dataset) {
  if (dataset.info().is_remote()) {
    fail(dataset.info().path, "is on a server, and --cold is for files of this machine");
  }
  std::vector<std::filesystem::path> files;
  const auto add = [&files](const Dataset& member) {
    std::ranges::copy(sample_files(member), std::back_inserter(files));
    if (const FoundCropIndex crops = find_crop_index(member); crops.index) {
      files.push_back(crops.index->path());
    }
  };
  if (dataset.members().empty()) add(dataset);
  for (const auto& member : dataset.members()) add(*member);
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

}  // namespace feedrate::tools
