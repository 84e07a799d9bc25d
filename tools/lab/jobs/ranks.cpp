#include "tools/lab/jobs/ranks.h"

#include <array>

#include "formats/base/error.h"
#include "formats/base/stop.h"
#include "trainer/communicators/communicator.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

void refuse_for_ranks(const TrainingRequest& request, std::uint32_t batch) {
  const unsigned ranks = world().ranks();
  if (ranks == 1) return;
  if (request.mode != Mode::train) {
    throw Error(join("--mode ", name(request.mode), " runs in one process"));
  }
  if (request.seconds > 0) {
    throw Error("ranks must stop at the same step: give --steps or --epochs, not --seconds");
  }
  if (batch % ranks != 0) {
    throw Error(join("a batch of ", batch, " images cannot be shared by ", ranks,
                     " ranks; give a --batch that is a multiple of them"));
  }
}

bool can_share(std::uint64_t images, std::uint64_t together) {
  return images / together >= world().ranks();
}

TrainOptions::Progress of_all_ranks(TrainOptions::Progress progress) {
  progress.images_per_second *= world().ranks();
  return progress;
}

bool stop_requested_of_any() {
  std::array stopping = {stop_requested() ? 1.0 : 0.0};
  world().sum(stopping);
  if (stopping[0] > 0) request_stop();
  return stopping[0] > 0;
}

bool stop_of_all_ranks(std::uint64_t steps_done) {
  constexpr std::uint64_t steps_between = 10;
  if (world().ranks() == 1) return stop_requested();
  return steps_done % steps_between == 0 && stop_requested_of_any();
}

DecodeCounts of_all_ranks(const DecodeCounts& counts) {
  std::array sums = {static_cast<double>(counts.images), static_cast<double>(counts.packed),
                     static_cast<double>(counts.too_large), static_cast<double>(counts.uploads),
                     static_cast<double>(counts.uploaded_bytes)};
  world().sum(sums);
  const auto whole = [&](std::size_t i) { return static_cast<std::uint64_t>(sums[i]); };
  return {whole(0), whole(1), whole(2), whole(3), whole(4)};
}

void add_up_ranks(TrainResult& result) {
  std::array sums = {static_cast<double>(result.images), static_cast<double>(result.timed_images)};
  world().sum(sums);
  result.images = static_cast<std::uint64_t>(sums[0]);
  result.timed_images = static_cast<std::uint64_t>(sums[1]);
  if (result.timed_seconds > 0) result.images_per_second = sums[1] / result.timed_seconds;
  for (TrainOptions::Progress& at : result.curve) at = of_all_ranks(at);
}

}  // namespace feedrate::tools
