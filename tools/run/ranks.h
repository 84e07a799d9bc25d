#pragma once
// What several processes that train together have to agree on (trainer/communicators/communicator.h).

#include "loader/loader.h"
#include "tools/run/training.h"

namespace feedrate::tools {

/// Throws Error where these ranks cannot train as asked. `batch` is that of all of them.
void refuse_for_ranks(const TrainingRequest& request, std::uint32_t batch);

/// Images that are too few for every rank to have one are left out of an epoch.
loader::LastBatch last_batch(std::uint64_t images, std::uint32_t batch);

/// A rank computes the same steps on as many images as every other.
trainer::TrainOptions::Progress of_all_ranks(trainer::TrainOptions::Progress progress);

/// Counts and rates become those of all ranks, whose clocks run over the same steps.
void add_up_ranks(trainer::TrainResult& result);

}  // namespace feedrate::tools
