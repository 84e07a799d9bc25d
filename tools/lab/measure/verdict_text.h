#pragma once
// The sentences about what limits a training and how many loader threads it needs, for every command
// and report. The loader returns the facts (loader/verdict.h, loader/tuning/tuner.h). Pure functions.

#include <string>
#include <string_view>
#include <vector>

#include "loader/tuning/tuner.h"
#include "loader/verdict.h"

namespace feedrate::tools {

/// "The trainer is the limit: it gets 98 % of what it can take."
std::string finding_text(const loader::Verdict& verdict);
/// The same where the noise of the rounds leaves other limits: "The rounds do not tell whether the limit
/// is decode or trainer: the trainer gets 91 % of what it can take". Without others, as above.
std::string finding_text(const loader::Verdict& verdict, const std::vector<loader::Limit>& others);
/// "decode, trainer or another"
std::string limit_names(loader::Limit limit, const std::vector<loader::Limit>& others);
/// What would help, in sentences: "More cores, or images that load faster, would help."; where the
/// consumer is fed, that its threads are enough. "" where the limit is unknown.
std::string advice_text(const loader::Verdict& verdict);
/// Both.
std::string verdict_text(const loader::Verdict& verdict);
/// "1 loader thread is enough", "No workers are needed": a clause without a full stop.
std::string enough_threads_text(unsigned threads, std::string_view worker = loader::loader_thread);

/// "3 threads keep the consumer fed, which needs 2.6; a 4th gains nothing": a line.
std::string tuning_text(const loader::Tuning& tuning);

/// "no loader threads", "1 worker"
std::string loader_threads(unsigned threads, std::string_view worker = loader::loader_thread);
/// "2.4 times", "37 times"
std::string times(double factor);

}  // namespace feedrate::tools
