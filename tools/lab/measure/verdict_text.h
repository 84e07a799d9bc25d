#pragma once
// The sentences about what limits a training and how many loader threads it needs, for every command
// and report. The loader returns the facts (loader/verdict.h, loader/tuning/tuner.h). Pure functions.

#include <string>
#include <string_view>
#include <vector>

#include "loader/tuning/tuner.h"
#include "loader/verdict.h"

namespace feedrate::tools {

/// "The trainer is the limit: loading costs 0.6 % of its time."
std::string finding_text(const loader::Verdict& verdict);
/// What would help, in sentences: "More cores, or images that load faster, would help."; where the
/// trainer is fed, that its threads are enough. "" where the limit is unknown.
std::string advice_text(const loader::Verdict& verdict);
/// Both.
std::string verdict_text(const loader::Verdict& verdict);
/// "1 loader thread is enough", "No workers are needed": a clause without a full stop.
std::string enough_threads_text(unsigned threads, std::string_view worker = loader::loader_thread);

/// "3 threads keep the trainer busy", "feeding the trainer takes about 11 threads; 1 was allowed": a line.
std::string tuning_text(const loader::Tuning& tuning);

/// Cores that feed a trainer, from images kept in one way.
struct NeededCores {
  double cores = 0;
  std::string from;  // "recordio × jpeg"; "" where there is one way only
};
/// The share that this machine reaches of what a trainer wants, and the cores that would feed the trainer: "This
/// machine reaches 43 % of an emulated h100. Feeding it takes about 5 cores with recordio × jpeg, 2 with recordio ×
/// packed." `whom`: the trainer.
std::string unfed_text(double reached, std::string_view whom, std::vector<NeededCores> needed);

/// "about 2.6 cores", "less than 0.1 cores"
std::string cores_taken_text(double cores);

/// "no loader threads", "1 worker"
std::string loader_threads(unsigned threads, std::string_view worker = loader::loader_thread);
/// "2.4 times", "37 times"
std::string times(double factor);
/// A share as a percentage: "0.6 %", "43 %", "less than 0.1 %"
std::string share_text(double share);

}  // namespace feedrate::tools
