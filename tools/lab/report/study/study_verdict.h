#pragma once
// The verdict of a study: how many loader threads, which format, and why.

#include <optional>
#include <string>
#include <vector>

#include "tools/lab/report/study/scaling.h"
#include "tools/lab/report/study/study.h"

namespace feedrate::tools {

struct StudyVerdict {
  std::string answer;   // the recommendation and its number, without the last full stop
  std::string finding;  // what the limit is, a sentence
  std::string
      details;  // more sentences: the uncertainty, what would help, how other formats compare
  loader::Limit limit = loader::Limit::unknown;
  std::string format;             // the chosen one; "" when there is nothing to choose
  unsigned threads = 0;           // recommended; more than were tried where more are needed
  unsigned measured_threads = 0;  // of the point that the rates below are of
  double rate = 0;                // delivered; supply when nothing was trained
  std::optional<double> demand;   // images/s; of an emulated device its rate
  std::optional<double> stall;    // percent of training time
  std::optional<double> loss;     // percent of demand that loading costs; see loader::loss_of()
  std::optional<Range> cores;  // that feed the demand from this format, where they are not fed yet
  bool contended = false;      // other programs had the cores, so `cores` follow from CPU time
  std::vector<std::string> as_good;    // other formats that do as well
  std::vector<std::string> too_close;  // other formats that the measurements cannot rank
  bool undecided = false;              // more repeats may change the answer

  /// Whether this format is the chosen one, and no other does as well or may.
  bool is_best(const std::string& one) const { return one == format && too_close.empty(); }
  /// Why, for a reader who has seen the answer.
  std::string reason() const { return finding + details; }
};

/// In this order:
/// 1. Where loading costs at most loader::max_loss with some format, no other choice can win more: the fewest
///    threads that do so are chosen, then the smallest loss. Noise between repeats does not change that.
/// 2. Else the trainer is not fed. The answer is what this machine reaches and how many cores feed the trainer,
///    from each format. Where other programs had the cores, that follows from CPU time.
/// 3. Formats are ranked by rates that the repeats tell apart (verdict_doubts.h), then by the cores that they need;
///    within max_cores_doubt they are too close to rank.
StudyVerdict judge(const Study& study);

/// Its rate in percent of demand; absent without demand.
std::optional<double> percent_of_demand(const StudyVerdict& verdict);

/// Title, answer, finding and details in one line.
std::string sentence(const Study& study, const StudyVerdict& verdict);

}  // namespace feedrate::tools
