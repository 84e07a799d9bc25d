#include "tools/lab/jobs/checkpoints.h"

#include <algorithm>

#include "formats/base/error.h"
#include "tools/console/text.h"
#include "tools/lab/jobs/agreement.h"
#include "tools/lab/jobs/ranks.h"
#include "trainer/communicators/communicator.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

Steps count_steps(const TrainingRequest& request, const Opened& opened) {
  const std::uint64_t images = opened.epoch_images();
  const std::uint32_t batch = opened.recipe.batch;
  const std::uint64_t rest = images % batch;
  Steps steps;
  if (!can_share(rest, opened.picks ? opened.picks->together() : 1)) steps.left_out = rest;
  steps.per_epoch = images / batch + (rest != steps.left_out ? 1 : 0);
  if (steps.per_epoch == 0) {
    fail(opened.dataset->info().path, "an epoch of ", counted(images, "image"),
         " has no batch that ", world().ranks(), " ranks can share");
  }
  if (request.seconds > 0) return steps;
  const bool asked = request.length.steps > 0 || request.length.epochs > 0;
  const Length& length = asked ? request.length : opened.recipe.length;
  steps.all =
      length.steps > 0 ? length.steps : std::max<std::uint64_t>(length.epochs, 1) * steps.per_epoch;
  return steps;
}

Position start_position(const TrainingRequest& request, const Opened& opened, const Steps& steps,
                        Session& session) {
  const Position first{.network = request.model.network,
                       .seed = request.seed,
                       .batch_images = opened.recipe.batch,
                       .dataset_images = opened.epoch_images(),
                       .decode = {},
                       .terms = lasting_terms(request, opened, steps)};
  const std::filesystem::path& file = request.files.resume;
  if (file.empty()) return first;
  Position found = load_checkpoint(file, session);
  if (found.seed != first.seed) {
    fail(file, "was trained with --seed ", found.seed, "; give the same to go on");
  }
  if (found.batch_images != first.batch_images) {
    fail(file, "was trained with --batch ", found.batch_images, ", not ", first.batch_images,
         "; give the same to go on");
  }
  if (found.dataset_images != first.dataset_images) {
    fail(file, "was trained on a dataset of ", found.dataset_images, " images, not of ",
         first.dataset_images);
  }
  const auto fits = [&](std::uint64_t per_epoch) {
    return found.step == found.epoch * per_epoch + found.batch;
  };
  // Ranks drop the last images of an epoch where these are fewer than they are.
  const std::uint64_t whole = found.dataset_images / found.batch_images;
  const std::uint64_t other = steps.per_epoch == whole ? whole + 1 : whole;
  if (!fits(steps.per_epoch) && found.dataset_images % found.batch_images != 0 && fits(other)) {
    fail(file, "was trained in epochs of ", counted(other, "step"), ", not of ", steps.per_epoch,
         ": the ranks then ", other == whole ? "dropped" : "shared", " the last ",
         counted(found.dataset_images % found.batch_images, "image"),
         " of each; give as many --batch images to as many ranks");
  }
  if (!fits(steps.per_epoch)) {
    fail(file, "step ", found.step, " is not batch ", found.batch, " of epoch ", found.epoch,
         " with ", steps.per_epoch, " batches an epoch; is the file damaged?");
  }
  if (steps.all != 0 && found.step > steps.all) {
    fail(file, "training stands at step ", found.step, " already, beyond the ", steps.all,
         " asked for; ask for more --epochs or --steps");
  }
  expect_resumable(file, found.terms, first.terms);
  found.terms = first.terms;
  return found;
}

bool is_whole(const TrainingRequest& request, const Steps& steps) {
  const std::filesystem::path& file = request.files.resume;
  return !file.empty() && steps.all != 0 && read_position(file).step >= steps.all;
}

Saver::Saver(const TrainingRequest& request, const Session& session, const Position& start,
             const Steps& steps)
    : file_(request.files.checkpoint),
      session_(session),
      position_(start),
      per_epoch_(steps.per_epoch) {
  position_.decode = name(request.feed.decode);
  if (!request.files.resume.empty()) name_last(request.files.resume);
}

void Saver::save(std::uint64_t steps_done) {
  if (file_.empty() || position_.step == steps_done) return;
  position_.step = steps_done;
  position_.epoch = steps_done / per_epoch_;
  position_.batch = steps_done % per_epoch_;
  if (world().rank() == 0) save_checkpoint(file_, session_, position_);
  name_last(file_);
}

void Saver::name_last(const std::filesystem::path& file) {
  last_ = join(file.string(), ", which stands at step ", position_.step);
}

}  // namespace feedrate::tools
