#include "formats/base/error.h"
#include "formats/container.h"
#include "formats/verify/checks.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t max_classes_named = 5;

// "class 3 has 5 samples, found 4": the first few classes, and how many more there are.
std::string different_classes(const std::vector<std::uint64_t>& stated,
                              const std::vector<std::uint64_t>& found) {
  const auto at = [](const std::vector<std::uint64_t>& counts, std::size_t label) {
    return label < counts.size() ? counts[label] : 0;
  };
  std::string list;
  std::size_t different = 0;
  for (std::size_t label = 0; label < std::max(stated.size(), found.size()); ++label) {
    if (at(stated, label) == at(found, label)) continue;
    if (++different > max_classes_named) continue;
    list += join(list.empty() ? "" : "; ", at(stated, label), " samples of class ", label,
                 ", found ", at(found, label));
  }
  if (different > max_classes_named) {
    list += join("; and ", different - max_classes_named, " classes more");
  }
  return list;
}

}  // namespace

void check_sidecar(const Dataset& dataset, Verification& result) {
  const DatasetInfo& info = dataset.info();
  if (!info.sidecar) return;
  const Sidecar& sidecar = *info.sidecar;
  const auto find = [&](std::string problem) {
    result.findings.push_back({(info.path / sidecar_name).string(), std::move(problem)});
  };
  if (sidecar.count != info.size)
    find(join("states ", sidecar.count, " samples, found ", info.size));
  // When samples are damaged, counts and digests say nothing new.
  if (result.samples != info.size) return;
  if (!sidecar.class_counts.empty()) {
    const std::string different = different_classes(sidecar.class_counts, result.class_counts);
    if (!different.empty()) find("states " + different);
  }
  const auto compare = [&](std::string_view what, const std::string& stated,
                           const std::string& found) {
    if (!stated.empty() && stated != found) {
      find(join("states the ", what, " ", stated, ", found ", found));
    }
  };
  compare("set digest", sidecar.set_digest, result.digest.set_digest);
  if (!container(info.format).keeps_order()) return;  // other digests depend on the order
  compare("digest", sidecar.digest, result.digest.digest);
  compare("digest of the stored bytes", sidecar.bytes_digest, result.bytes_digest);
}

}  // namespace feedrate::formats
