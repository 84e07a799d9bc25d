#include "loader/plan.h"

#include <algorithm>
#include <limits>

namespace feedrate::detail {
namespace {

// A run is long enough to make claiming and timing it cheap (about 50 KB of pixels: tens of
// microseconds) and short enough to balance the workers and to stay in a core's cache.
constexpr std::size_t run_bytes = std::size_t{48} << 10;
constexpr std::size_t longest_run = 64;

std::uint64_t batches_in(std::uint64_t size, std::uint32_t batch, bool drop_last) {
  if (size == 0) throw Error("loader: the dataset holds no sample");
  if (batch == 0) throw Error("loader: a batch needs at least 1 image");
  const std::uint64_t batches = drop_last ? size / batch : (size - 1) / batch + 1;
  if (batches == 0) {
    throw Error(join("loader: a batch of ", batch, " images is larger than the dataset of ", size,
                     ", and partial batches are left out"));
  }
  return batches;
}

}  // namespace

Plan::Plan(const LoaderOptions& options, std::uint64_t size, std::size_t image_bytes)
    : size_(size),
      batch_(options.batch),
      per_epoch_(batches_in(size, options.batch, options.drop_last)),
      start_(options.first_epoch * per_epoch_ + options.first_batch) {
  const std::size_t fitting =
      std::max<std::size_t>(1, run_bytes / std::max<std::size_t>(1, image_bytes));
  run_length_ = static_cast<std::uint32_t>(std::min({fitting, longest_run, std::size_t{batch_}}));
  runs_per_batch_ = (batch_ - 1) / run_length_ + 1;
  // Without end means: while runs count in 64 bits, which is longer than any machine lives.
  batches_ = std::numeric_limits<std::uint64_t>::max() / 4 / runs_per_batch_;
  if (options.epochs != 0) {
    const std::uint64_t all = options.epochs * per_epoch_;
    batches_ = all - std::min(all, options.first_batch);
  }
}

BatchPlace Plan::batch(std::uint64_t step) const {
  BatchPlace place;
  place.number = start_ + step;
  place.epoch = place.number / per_epoch_;
  const std::uint64_t in_epoch = place.number % per_epoch_;
  place.first = in_epoch * batch_;
  place.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(batch_, size_ - place.first));
  place.last_of_epoch = in_epoch + 1 == per_epoch_;
  return place;
}

Run Plan::run(std::uint64_t number) const {
  Run run;
  run.batch = batch(number / runs_per_batch_);
  run.seat = static_cast<std::uint32_t>(number % runs_per_batch_) * run_length_;
  run.count = run.batch.count - std::min(run.batch.count, run.seat);
  run.count = std::min(run.count, run_length_);
  return run;
}

}  // namespace feedrate::detail
