#pragma once
// What decides what a training learns: ranks that differ in any of it would train garbage, and a
// training that is resumed with other terms is not the same one.

#include <string>
#include <utility>
#include <vector>

#include "tools/lab/jobs/checkpoints.h"
#include "tools/lab/jobs/open.h"
#include "trainer/loop/checkpoint.h"

namespace feedrate::tools {

/// Names, as the shell writes them, and values as text. Paths are not among them: the data may lie
/// elsewhere on each machine.
using Terms = std::vector<std::pair<std::string, std::string>>;

/// Those that hold wherever and on however many ranks the training goes on: a checkpoint keeps them.
Terms lasting_terms(const TrainingRequest& request, const Opened& opened, const Steps& steps);

/// Throws Error where the position in `file`, a checkpoint of a training on the terms `then`, means
/// nothing on the terms `now`; warns of each other term that differs. Terms that were not kept are
/// not compared.
void expect_resumable(const std::filesystem::path& file, const Terms& then, const Terms& now);

/// All of a training that is about to begin at `start`, with the weights that its session has.
Terms terms_of(const TrainingRequest& request, const Opened& opened,
               const trainer::Session& session, const trainer::Position& start);

/// All ranks call it. Throws Error on each rank whose terms are not those of the first; it names the
/// first that differs, and both values. The others wait, and end with that rank.
void expect_agreement(const Terms& terms);

}  // namespace feedrate::tools
