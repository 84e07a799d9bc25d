#pragma once
// The verdict of a study: how many loader threads, which format, and why.

#include <optional>
#include <string>
#include <vector>

#include "tools/lab/report/study/study.h"

namespace feedrate::tools {

struct StudyVerdict {
  std::string answer;   // "1 loader thread is enough; best format: lmdb × raw"
  std::string finding;  // what the limit is, a sentence
  std::string details;  // more sentences: what would help, how other formats compare
  loader::Limit limit = loader::Limit::unknown;  // by the medians; see other_limits
  std::string format;  // of the chosen point; "" when there is nothing to choose
  unsigned threads = 0;
  double rate = 0;                   // delivered; supply when nothing was trained
  std::optional<double> demand;      // images/s
  std::optional<double> stall;       // percent of training time
  std::vector<std::string> as_good;       // other formats that are as fast, within the noise
  std::vector<std::string> open_formats;  // others of which the rounds do not tell whether they are
  bool undecided = false;                 // the same, of other tools and cold caches too
  std::vector<loader::Limit> other_limits;  // that the noise of the rounds leaves
  bool few_rounds = false;                  // too few to tell anything of the noise

  /// Whether this format is the chosen one, and the rounds leave no other.
  bool is_best(const std::string& one) const {
    return one == format && open_formats.empty() && !few_rounds;
  }
  /// Why, for a reader who has seen the answer.
  std::string reason() const { return finding + details; }
};

/// The first of a curve's points (at least one, by rising thread count) that is as fast as the
/// fastest, as loader::as_fast_as() decides, and that the rounds do not show to be slower.
const Point& knee(const std::vector<Point>& points);

/// The knee of delivered; of supply when the study trained nothing. Null when there is no point.
const Point* shown_knee(const Study& study, const Curve& curve);

/// Takes each format at its knee and chooses the fastest. Among formats that are as fast, by the
/// same tolerance as for the knee, fewer threads win, then more supply. loader::judge() says what
/// the limit is there. The answer names as best, or as the limit, only what the rounds carry
/// (verdict_doubts.h).
StudyVerdict judge(const Study& study);

/// "trainer", or all limits that the rounds leave: "decode or trainer".
std::string limit_names(const StudyVerdict& verdict);

/// Its rate in percent of demand; absent without demand.
std::optional<double> percent_of_demand(const StudyVerdict& verdict);

/// Title, finding, answer and details in one line.
std::string sentence(const Study& study, const StudyVerdict& verdict);

}  // namespace feedrate::tools
