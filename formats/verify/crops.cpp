#include "formats/base/error.h"
#include "formats/verify/checks.h"

namespace feedrate::formats {

CropCheck::CropCheck(const Dataset& dataset)
    : dataset_(dataset), found_(find_crop_index(dataset)), first_(dataset.size()) {}

void CropCheck::check(std::uint64_t index, const Sample& sample) {
  if (!found_.index) return;
  std::string problem = found_.index->problem_of(index, sample);
  if (problem.empty()) return;
  const std::lock_guard lock(mutex_);
  ++wrong_;
  if (index > first_) return;
  first_ = index;
  name_ = sample.name;
  problem_ = std::move(problem);
}

void CropCheck::report(Verification& result) const {
  if (!found_.problem.empty()) {
    result.findings.push_back({shown_path(dataset_.info().path), found_.problem});
  }
  if (!found_.index) return;
  const std::string place = shown_path(found_.index->path());
  try {
    found_.index->audit();
  } catch (const Error& error) {
    result.findings.push_back({place, error.what()});
  }
  if (wrong_ == 0) return;
  result.findings.push_back(
      {place, join("does not fit ", wrong_, wrong_ == 1 ? " sample" : " samples", "; the first is ",
                   first_, name_.empty() ? "" : join(" (", name_, ")"), ": ", problem_,
                   "; 'feedrate index ", dataset_.info().path, " --crops' makes it again")});
}

}  // namespace feedrate::formats
