#include <algorithm>
#include <optional>

#include "formats/base/error.h"
#include "formats/verify/checks.h"
#include "formats/verify/published_counts.h"

namespace feedrate::formats {
namespace {

bool is_part(const Sidecar& sidecar) {
  return std::any_of(sidecar.options.begin(), sidecar.options.end(), [](const std::string& option) {
    return option.starts_with("--limit") || option.starts_with("--part") ||
           option.starts_with("--on-bad");
  });
}

// True when the sidecar's inputs are the published archive itself, judged by size.
bool is_archive_of(const PublishedCounts& row, const Sidecar& sidecar) {
  return std::any_of(
      sidecar.inputs.begin(), sidecar.inputs.end(), [&](const Sidecar::Input& input) {
        return input.bytes != 0 &&
               std::find(std::begin(row.archive_bytes), std::end(row.archive_bytes), input.bytes) !=
                   std::end(row.archive_bytes);
      });
}

std::string range_text(std::uint64_t fewest, std::uint64_t most) {
  return fewest == most ? join(fewest) : join(fewest, " to ", most);
}

// What differs from the published set, or nothing.
std::string difference(const PublishedCounts& row, const std::vector<std::uint64_t>& counts,
                       std::uint64_t samples) {
  if (samples != row.samples) {
    return join(samples, " samples, ", row.set, " ", row.split, " has ", row.samples);
  }
  const auto classes = static_cast<std::uint64_t>(
      std::count_if(counts.begin(), counts.end(), [](std::uint64_t count) { return count > 0; }));
  if (classes != row.classes) {
    return join("samples of ", classes, " classes, ", row.set, " ", row.split, " has ",
                row.classes);
  }
  for (std::size_t label = 0; label < counts.size(); ++label) {
    if (counts[label] == 0 || (counts[label] >= row.fewest && counts[label] <= row.most)) continue;
    return join(counts[label], " samples of class ", label, ", ", row.set, " ", row.split, " has ",
                range_text(row.fewest, row.most), " of each");
  }
  return {};
}

}  // namespace

void check_published_counts(const Dataset& dataset, Verification& result) {
  const DatasetInfo& info = dataset.info();
  if (!info.sidecar || is_part(*info.sidecar) || result.samples != info.size) return;
  const Sidecar& sidecar = *info.sidecar;
  std::optional<std::string> nearest;  // from the row with the same number of samples, or the first
  bool whole = false;
  for (const PublishedCounts& row : published_counts()) {
    if (row.source != sidecar.source || row.split != sidecar.split) continue;
    const std::string different = difference(row, result.class_counts, info.size);
    if (different.empty()) return;
    // Any set may come in a published packaging; only the published archive must have its counts.
    const bool archive = is_archive_of(row, sidecar);
    if (!nearest || archive) nearest = different;
    whole = whole || archive;
  }
  if (!nearest) return;
  if (whole) {
    result.findings.push_back({shown_path(info.path), "holds " + *nearest});
  } else {
    result.notes.push_back(
        {shown_path(info.path), "holds " + *nearest + ": a part, or another set"});
  }
}

}  // namespace feedrate::formats
