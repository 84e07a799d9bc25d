#pragma once
// The answer of `feedrate diagnose`: what limits a script, and what to change.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/diagnose/causes.h"
#include "tools/lab/diagnose/curve.h"
#include "tools/lab/diagnose/loop.h"
#include "tools/lab/diagnose/seen.h"

namespace feedrate::tools {

/// The loop with another number of workers, in a process of its own.
struct Restarted {
  std::uint64_t workers = 0;
  double predicted = 0;  // samples/s of the loop
  std::optional<double> delivered{}, wait_share{};
  std::string problem{};  // why they are not known
};

/// Of ranks that train together, the one whose loop waits most for data: the others wait for it in their steps.
struct SlowestRank {
  std::uint32_t rank = 0;
  std::uint64_t ranks = 0;  // that were seen
  double wait_share = 0;
  double others_wait_share = 0;  // the mean
  std::optional<CauseKind> cause{};
};

struct Diagnosis {
  std::vector<std::string> command;
  int code = 0;
  double cores = 1;               // that the script may use
  std::string python{}, torch{};  // versions; "": not seen
  /// Why there is nothing to say about the script; "": there is.
  std::string problem{};
  /// Every loop that was seen, the one that the diagnosis is about first. Of several ranks that is the
  /// rank that waits most: others wait for it inside their steps.
  std::vector<Loop> loops{};
  std::vector<Cause> causes{};
  std::optional<SlowestRank> slowest{};  // where there are several, and they differ
  Costs costs{};                         // of the loader alone
  Costs of_loop{};                       // with a step
  std::vector<CurvePoint> curve{};       // empty where nothing was seen of making batches
  std::vector<Restarted> restarts{};     // where the user asked for them
  double busy = 0;         // how much of the sweep, at one worker, that waited for a processor
  std::string no_sweep{};  // why not; "": was not asked for, or was done

  std::string text(std::size_t columns) const;
  /// One JSON object; values without a meaning are null.
  std::string json() const;
};

/// Numbers of workers that are worth a try: 0, 1, 2, 4 … up to the cores.
std::vector<std::uint64_t> numbers_of_workers(double cores);
/// What was seen of the loop that `found` is about, when it was restarted.
Restarted restarted(const Diagnosis& found, std::uint64_t workers, const Seen& seen);

Diagnosis diagnose(const Seen& seen, const std::vector<std::string>& command, double cores);

}  // namespace feedrate::tools
