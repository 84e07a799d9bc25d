#pragma once
// What several processes that train together have to agree on
// (trainer/communicators/communicator.h).

#include "loader/loader.h"
#include "tools/lab/jobs/training_request.h"
#include "trainer/backends/image_decoder.h"
#include "trainer/loop/trainer.h"

namespace feedrate::tools {

/// Throws Error when these ranks cannot train as asked. `batch` is that of all ranks together.
void refuse_for_ranks(const TrainingRequest& request, std::uint32_t batch);

/// Whether every rank gets one of so many images, or one group of `together` of them.
bool can_share(std::uint64_t images, std::uint64_t together);

/// Every rank takes the same steps with as many images, so the rate is a multiple of this rank's.
trainer::TrainOptions::Progress of_all_ranks(trainer::TrainOptions::Progress progress);

/// Whether a stop was requested of any rank; then it is of every rank, so that all end as
/// interrupted. All ranks call it together.
bool stop_requested_of_any();

/// Whether to end training after `steps_done` steps because a stop was requested of any rank: all
/// ranks, called after every step, say the same. They ask each other only now and then.
bool stop_of_all_ranks(std::uint64_t steps_done);

/// The sums over all ranks, each of which calls it.
trainer::DecodeCounts of_all_ranks(const trainer::DecodeCounts& counts);

/// Makes counts and rates those of all ranks.
void add_up_ranks(trainer::TrainResult& result);

}  // namespace feedrate::tools
