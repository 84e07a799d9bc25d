#pragma once
// What decides what a training learns: ranks that differ in any of it would train garbage.

#include <string>
#include <utility>
#include <vector>

#include "tools/lab/jobs/open.h"
#include "trainer/loop/checkpoint.h"

namespace feedrate::tools {

/// Names, as the shell writes them, and values as text. Paths are not among them: the data may lie
/// elsewhere on each machine.
using Terms = std::vector<std::pair<std::string, std::string>>;

/// Those of a training that is about to begin at `start`, with the weights that its session has.
Terms terms_of(const TrainingRequest& request, const Opened& opened,
               const trainer::Session& session, const trainer::Position& start);

/// All ranks call it. Throws Error on each rank whose terms are not those of the first; it names the
/// first that differs, and both values. The others wait, and end with that rank.
void expect_agreement(const Terms& terms);

}  // namespace feedrate::tools
