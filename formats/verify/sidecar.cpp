#include "formats/base/error.h"
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

void check_checksum(const DatasetInfo& info, Verification& result) {
  const std::string place = shown_path(sidecar_file(info.path));
  const SidecarChecksum checksum = sidecar_checksum(info.path);
  if (checksum.stated.empty()) {
    result.notes.push_back({place,
                            "has no checksum (an older version wrote it), so a change in it, "
                            "such as in the name of a class, would go unnoticed"});
  } else if (checksum.stated != checksum.found) {
    result.findings.push_back({place, join("has changed since it was written: expected the "
                                           "checksum ",
                                           checksum.stated, ", found ", checksum.found)});
  }
}

void check_files(const DatasetInfo& info, Verification& result) {
  for (const Sidecar::File& file : info.sidecar->files) {
    const std::filesystem::path path = sidecar_file(info.path).replace_filename(file.name);
    try {
      const std::string found = file_hash(path);
      if (found == file.hash) continue;
      result.findings.push_back(
          {shown_path(path),
           join("has changed since it was written: expected ", file.hash, ", found ", found)});
    } catch (const Error& error) {
      result.findings.push_back({shown_path(path), error.what()});
    }
  }
}

}  // namespace

void check_sidecar(const Dataset& dataset, Verification& result) {
  const DatasetInfo& info = dataset.info();
  if (!info.sidecar) return;
  const Sidecar& sidecar = *info.sidecar;
  const auto find = [&](std::string problem) {
    result.findings.push_back({shown_path(sidecar_file(info.path)), std::move(problem)});
  };
  check_checksum(info, result);
  check_files(info, result);
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
  compare("digest of names, boxes and labels", sidecar.details_digest, result.details_digest);
  compare("set digest", sidecar.set_digest, result.digest.set_digest);
  if (result.written_digest.empty()) {  // findings have told why, where there is a list of digests
    if (sidecar.set_digest.empty() && result.findings.empty()) {
      result.notes.push_back({shown_path(info.path),
                              "holds no digests of its images (an older version wrote it), so one "
                              "that changed and can still be decoded would go unnoticed"});
    }
    return;
  }
  compare("digest", sidecar.digest, result.written_digest);
  compare("digest of the stored bytes", sidecar.bytes_digest, result.written_bytes_digest);
}

}  // namespace feedrate::formats
