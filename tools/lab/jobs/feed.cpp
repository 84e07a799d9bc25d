#include "tools/lab/jobs/feed.h"

#include <utility>

#include "tools/console/console.h"
#include "tools/lab/jobs/damage_advice.h"
#include "trainer/communicators/communicator.h"
#include "trainer/ops/pixels.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

/// Too many to stay in the trainer's caches, few enough to fill fast.
constexpr unsigned resident_batches = 16;

}  // namespace

LoaderOptions loader_options(const TrainingRequest& request, const Opened& opened,
                             const Session& session) {
  const TrainingRequest::Feed& feed = request.feed;
  return {
      .threads = feed.loader.threads.value_or(loader_cores(true)),
      .batch = session.plan().batch,
      .pixels = {.type = feed.pixels(), .scales = input_scales(session.plan().graph)},
      .decoded = size_of(feed.decode),
      .share = {.rank = world().rank(), .ranks = world().ranks()},
      .bad = {feed.loader.on_bad, feed.loader.bad_budget},
      .engine = {.memory = &opened.device.pixel_memory(), .crop_index = feed.loader.crop_index}};
}

Feed::Feed(const TrainingRequest& request, const Opened& opened, LoaderOptions options,
           FeedCalls calls)
    : seconds_(request.seconds), calls_(std::move(calls)) {
  options.engine.tune = !request.feed.loader.threads && !request.feed.resident;
  loader_ = std::make_unique<Loader>(*opened.dataset, opened.augmentation, options);
  if (const std::string& problem = loader_->crop_index_problem(); !problem.empty()) note(problem);
  if (!request.feed.resident) return;
  resident_ = std::make_unique<Replay>(*loader_, resident_batches, 0, options.engine.memory);
}

BatchSource& Feed::source() const {
  return resident_ ? static_cast<BatchSource&>(*resident_) : *loader_;
}

bool Feed::time_is_up() {
  if (seconds_ <= 0) return false;
  const auto now = std::chrono::steady_clock::now();
  if (taken_ == 1) start_ = now;
  return taken_ > 1 && std::chrono::duration<double>(now - start_).count() >= seconds_;
}

const Batch* Feed::next() {
  calls_.asked(taken_);
  const auto take = [&] { return source().next(); };
  const Batch* batch = time_is_up() ? nullptr : advised_of_damage(take);
  if (batch != nullptr && calls_.came) calls_.came(taken_, *batch);
  ++taken_;
  return batch;
}

}  // namespace feedrate::tools
