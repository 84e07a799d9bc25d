#pragma once
// How far a training goes, where it starts, and what it saves on the way.

#include <cstdint>
#include <string>

#include "loader/loader.h"
#include "tools/lab/jobs/open.h"
#include "trainer/loop/checkpoint.h"

namespace feedrate::tools {

/// The length of a training in steps.
struct Steps {
  std::uint64_t left_out = 0;  // images at the end of an epoch: too few for every rank to have one
  std::uint64_t per_epoch = 0;
  std::uint64_t all = 0;  // 0: until the time is up
};
Steps count_steps(const TrainingRequest& request, const Opened& opened);

/// Where training starts: at the first step, or at that of the checkpoint to resume, which fills
/// the session. Throws Error when the checkpoint does not fit this training, or is beyond its end.
trainer::Position start_position(const TrainingRequest& request, const Opened& opened,
                                 const Steps& steps, trainer::Session& session);

/// Whether the checkpoint to resume, if there is one, leaves no step to do.
bool is_whole(const TrainingRequest& request, const Steps& steps);

/// Saves checkpoints, if any are wanted.
class Saver {
 public:
  Saver(const TrainingRequest& request, const trainer::Session& session,
        const trainer::Position& start, const Steps& steps);
  /// The first rank writes for all. Does nothing when this step is saved already.
  void save(std::uint64_t steps_done);
  /// "lenet.st, which stands at step 400": the last checkpoint of this training; "": none.
  const std::string& last() const { return last_; }

 private:
  void name_last(const std::filesystem::path& file);

  const std::filesystem::path& file_;
  const trainer::Session& session_;
  trainer::Position position_;
  std::uint64_t per_epoch_;
  std::string last_;
};

}  // namespace feedrate::tools
