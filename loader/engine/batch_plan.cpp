#include "loader/engine/batch_plan.h"

#include <algorithm>
#include <limits>

namespace feedrate::loader::detail {
using namespace formats;

namespace {

// A chunk is long enough to make claiming and timing it cheap (50 KiB of pixels: tens of
// microseconds) and short enough to balance the workers and to stay in a core's cache. MNIST's
// usual batch of 64 is one chunk.
constexpr std::size_t max_chunk_bytes = std::size_t{50} << 10;
constexpr std::size_t max_chunk_images = 64;

std::string images(std::uint64_t number) {
  return join(number, number == 1 ? " image" : " images");
}

void check(const LoaderOptions& options, std::uint64_t size) {
  if (size == 0) throw Error("loader: the dataset holds no samples");
  if (options.batch == 0) throw Error("loader: a batch needs at least 1 image");
  const Picks* const picks = options.order.picks;
  const std::uint64_t together = picks != nullptr ? picks->together() : 1;
  if (options.batch % together != 0) {
    throw Unsuited("batch", images(options.batch), " cannot hold whole groups of ", together,
                   "; expected a multiple");
  }
  if (picks != nullptr && picks->needs_shuffle() && options.order.window != 0) {
    throw Unsuited("window", "it would keep the datasets of a mix apart; leave it out");
  }
  if (picks != nullptr && options.order.block != 0) {
    throw Unsuited("shuffle_blocks", "an epoch of picks has no neighbours; leave it out");
  }
  if (together > 1 && options.share.interleaved)
    throw Unsuited("groups", "ranks that take images one by one would tear them apart");
  if (together > 1 && options.order.shuffle)
    throw Unsuited("shuffle", "it would tear groups apart; they are in a random order anyway");
  if (options.start.position % together != 0) {
    throw Unsuited("start", "position ", options.start.position, " is inside of a group of ",
                   images(together), "; is the state from another order?");
  }
  options.share.check();
  if (options.start.position > size) {
    throw Unsuited("start", "position ", options.start.position, " is beyond the ", images(size),
                   " of an epoch; is the state from another dataset?");
  }
}

}  // namespace

Plan::Plan(const LoaderOptions& options, std::uint64_t size, std::size_t image_bytes)
    : size_((check(options, size), size)),
      batch_(options.batch),
      last_(options.order.last == LastBatch::pad ? LastBatch::partial : options.order.last),
      rank_(options.share.rank),
      ranks_(options.share.ranks),
      in_step_(options.share.in_step),
      uneven_(options.order.last == LastBatch::pad ? UnevenShares::repeat : options.share.uneven),
      interleaved_(options.share.interleaved),
      together_(options.order.picks != nullptr ? options.order.picks->together() : 1),
      step_images_(std::uint64_t{batch_} * ranks_),
      max_count_(last_ == LastBatch::wrap ? batch_ : share(std::min(shared(size), step_images_))),
      per_epoch_(batches_in(size)),
      first_epoch_(options.start.epoch),
      first_position_(options.start.position),
      first_batches_(batches_in(size - first_position_)) {
  expect_batch_for_each_rank(size);
  expect_batch_for_each_rank(size - first_position_);
  if (per_epoch_ == 0) {
    throw Unsuited(last_ == LastBatch::drop ? "last" : "ranks", "an epoch of ", images(size),
                   " gives rank ", rank_, " of ", ranks_, " no batch (of ", images(batch_), ")");
  }
  const std::size_t fitting =
      std::max<std::size_t>(1, max_chunk_bytes / std::max<std::size_t>(1, image_bytes));
  chunk_length_ =
      static_cast<std::uint32_t>(std::min({fitting, max_chunk_images, std::size_t{batch_}}));
  chunks_per_batch_ = (batch_ - 1) / chunk_length_ + 1;
  chunk_length_ = (batch_ - 1) / chunks_per_batch_ + 1;  // evenly: a short last chunk costs as much
  chunks_per_batch_ = (batch_ - 1) / chunk_length_ + 1;
  // "Without end" lasts while chunks can be counted in 64 bits.
  batches_ = std::numeric_limits<std::uint64_t>::max() / 4 / chunks_per_batch_;
  if (options.epochs != 0) batches_ = first_batches_ + (options.epochs - 1) * per_epoch_;
}

std::uint64_t Plan::shared(std::uint64_t images) const {
  const std::uint64_t for_each = ranks_ * together_;
  const std::uint64_t rest = images % for_each;
  if (uneven_ == UnevenShares::one_more || rest == 0) return images;
  return images - rest + (uneven_ == UnevenShares::repeat ? for_each : 0);
}

// When the images, or groups of them, do not divide evenly, the first ranks get one more.
std::uint32_t Plan::share(std::uint64_t images) const {
  const std::uint64_t groups = images / together_;
  return static_cast<std::uint32_t>(together_ *
                                    (groups / ranks_ + (rank_ < groups % ranks_ ? 1 : 0)));
}

// With unequal numbers of batches, ranks would wait for one another for ever.
void Plan::expect_batch_for_each_rank(std::uint64_t left) const {
  const std::uint64_t rest = shared(left) % step_images_;
  if (!in_step_ || last_ != LastBatch::partial || rest == 0 || rest / together_ >= ranks_) return;
  throw Unsuited("last", images(left), " in batches of ", batch_, " for each of ", ranks_,
                 " ranks leave ", rest, ", too few for every rank to have a last batch; expected ",
                 "pad, drop or wrap, or another batch");
}

std::uint64_t Plan::batches_in(std::uint64_t images) const {
  const std::uint64_t full = shared(images) / step_images_;
  const std::uint64_t rest = shared(images) % step_images_;
  if (last_ == LastBatch::drop) return full;
  return full + ((last_ == LastBatch::wrap ? rest : share(rest)) > 0 ? 1 : 0);
}

BatchRange Plan::batch(std::uint64_t step) const {
  BatchRange range;
  std::uint64_t origin = 0;  // the position of the epoch's first step
  std::uint64_t in_epoch = step;
  std::uint64_t batches = per_epoch_;
  if (step < first_batches_) {
    range.epoch = first_epoch_;
    origin = first_position_;
    batches = first_batches_;
  } else {
    range.epoch = first_epoch_ + 1 + (step - first_batches_) / per_epoch_;
    in_epoch = (step - first_batches_) % per_epoch_;
  }
  range.number = range.epoch * per_epoch_ + origin / step_images_ + in_epoch;
  range.last_of_epoch = in_epoch + 1 == batches;
  const std::uint64_t first = origin + in_epoch * step_images_;
  const std::uint64_t left = shared(size_ - origin) - in_epoch * step_images_;
  if (left >= step_images_ || last_ == LastBatch::wrap) {
    range.first = first + std::uint64_t{rank_} * batch_;
    range.count = batch_;
  } else {
    const std::uint64_t groups = left / together_;
    range.first = first + together_ * (rank_ * (groups / ranks_) +
                                       std::min<std::uint64_t>(rank_, groups % ranks_));
    range.count = share(left);
  }
  if (interleaved_) {
    range.first = first + rank_;
    range.stride = ranks_;
  }
  const std::uint64_t within =
      range.first < size_ ? (size_ - 1 - range.first) / range.stride + 1 : 0;
  range.repeated =
      range.count - static_cast<std::uint32_t>(std::min<std::uint64_t>(within, range.count));
  range.after = std::min(first + step_images_, size_);
  return range;
}

Chunk Plan::chunk(std::uint64_t number) const {
  Chunk chunk;
  chunk.batch = batch(number / chunks_per_batch_);
  chunk.seat = static_cast<std::uint32_t>(number % chunks_per_batch_) * chunk_length_;
  chunk.count = chunk.batch.count - std::min(chunk.batch.count, chunk.seat);
  chunk.count = std::min(chunk.count, chunk_length_);
  return chunk;
}

}  // namespace feedrate::loader::detail
