#include "tools/lab/bench/deciding.h"

#include <algorithm>

#include "tools/lab/report/study/study_verdict.h"

namespace feedrate::tools {

bool Deciding::goes_on(std::vector<Row> rows) {
  const Clock::time_point now = Clock::now();
  if (begun_) left_ -= std::chrono::duration<double>(now - *begun_).count();
  begun_.reset();
  if (left_ <= 0) return false;
  for (Row& row : rows)
    row.environment = {};  // else rows of an earlier run were of another machine
  const auto undecided = [](const Study& study) { return judge(study).undecided; };
  if (std::ranges::none_of(make_studies(rows), undecided)) return false;
  begun_ = now;
  return true;
}

}  // namespace feedrate::tools
