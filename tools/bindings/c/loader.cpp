// Loaders and batches of feedrate.h.

#include "loader/loader.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include "tools/bindings/c/calls.h"
#include "tools/bindings/c/dlpack.h"
#include "tools/bindings/c/forks.h"
#include "tools/bindings/c/options.h"

namespace {

using namespace feedrate;
using tools::Failure;

// How often a wait looks for feedrate_loader_stop.
constexpr std::chrono::milliseconds attention{50};

// What a batch and its tensors share.
struct Contents {
  Contents(std::shared_ptr<const std::byte> kept, const loader::Batch& from)
      : memory(std::move(kept)),
        batch(from),
        labels(from.labels.begin(), from.labels.end()),
        indices(from.indices.begin(), from.indices.end()) {}
  ~Contents() {
    // In a child of a fork, the pool's lock may be held by a thread that is not there.
    if (generation != tools::fork_generation()) new auto(std::move(memory));
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  unsigned generation = tools::fork_generation();
  std::shared_ptr<const std::byte> memory;
  loader::Batch batch;
  std::vector<std::int64_t> labels, indices;
};

}  // namespace

struct feedrate_batch {
  std::shared_ptr<const Contents> contents;
};

struct feedrate_loader {
  std::shared_ptr<const formats::Dataset> dataset;
  loader::LoaderSetup setup;
  unsigned generation = tools::fork_generation();
  std::atomic<bool> stopping{false};
  std::mutex mutex;                        // of the loader; held while a batch is awaited
  std::unique_ptr<loader::Loader> loader;  // null when stopped or over
  std::mutex state_mutex;
  loader::LoaderState state;
};

namespace feedrate::tools {
namespace {

void expect_own_process(const feedrate_loader& run) {
  if (run.generation == fork_generation()) return;
  throw Failure(FEEDRATE_FORKED,
                "this loader belongs to the process that this one was forked from, and so do its "
                "threads: create a loader in this process");
}

feedrate_loader* create(const feedrate_dataset& dataset, const feedrate_loader_options* options) {
  auto run = std::make_unique<feedrate_loader>();
  run->dataset = dataset.data;
  run->setup = checked_options(options, *dataset.data);
  const loader::LoaderOptions& all = run->setup.options;
  run->state = all.start;
  if (all.threads > 0 && run->generation > 0 && threads_before_fork()) {
    throw Failure(FEEDRATE_FORKED,
                  "this process was forked from one whose loaders had started threads, which a "
                  "fork does not copy: exec a program, or load with threads = 0");
  }
  if (run->setup.over) return run.release();
  if (all.threads > 0) note_threads();
  run->loader = std::make_unique<loader::Loader>(*run->dataset, *run->setup.recipe, all);
  return run.release();
}

feedrate_status next(feedrate_loader& run, feedrate_batch** batch) {
  expect_own_process(run);
  const std::lock_guard lock(run.mutex);
  if (run.stopping) return FEEDRATE_STOPPED;
  if (run.loader == nullptr) return FEEDRATE_END;
  while (!run.loader->wait(attention)) {
    if (run.stopping) return FEEDRATE_STOPPED;
  }
  const loader::Batch* filled = run.loader->next();
  if (filled == nullptr) return FEEDRATE_END;
  *batch = new feedrate_batch{std::make_shared<Contents>(run.loader->keep(), *filled)};
  const std::lock_guard state_lock(run.state_mutex);
  run.state = run.loader->state();
  return FEEDRATE_OK;
}

void stop(feedrate_loader& run) {
  expect_own_process(run);
  run.stopping = true;
  const std::lock_guard lock(run.mutex);
  run.loader.reset();
}

feedrate_batch_view view_of(const Contents& contents) {
  const loader::Batch& batch = contents.batch;
  return {.size = 0,
          .images = batch.bytes().data(),
          .labels = contents.labels.data(),
          .indices = contents.indices.data(),
          .count = batch.count,
          .height = batch.shape.height,
          .width = batch.shape.width,
          .channels = batch.shape.channels,
          .pixels = static_cast<std::int32_t>(batch.type),
          .last_of_epoch = batch.last_of_epoch,
          .number = batch.number,
          .epoch = batch.epoch};
}

DLManagedTensorVersioned* tensor_of(const std::shared_ptr<const Contents>& contents,
                                    feedrate_part part) {
  const loader::Batch& batch = contents->batch;
  const formats::Shape shape = batch.shape;
  switch (part) {
    case FEEDRATE_LABELS:
      return make_tensor(contents->labels.data(), dl_i64, {batch.count}, contents);
    case FEEDRATE_INDICES:
      return make_tensor(contents->indices.data(), dl_i64, {batch.count}, contents);
    case FEEDRATE_IMAGES:
      break;
    default:
      throw Failure(FEEDRATE_MISUSED, formats::join("no part ", static_cast<int>(part)));
  }
  const auto type = batch.type == loader::PixelType::u8    ? dl_u8
                    : batch.type == loader::PixelType::f32 ? dl_f32
                                                           : dl_f16;
  if (batch.layout == loader::PixelLayout::interleaved) {
    return make_tensor(batch.bytes().data(), type,
                       {batch.count, shape.height, shape.width, shape.channels}, contents);
  }
  return make_tensor(batch.bytes().data(), type,
                     {batch.count, shape.channels, shape.height, shape.width}, contents);
}

}  // namespace
}  // namespace feedrate::tools

using namespace feedrate::tools;

feedrate_status feedrate_loader_create(const feedrate_dataset* dataset,
                                       const feedrate_loader_options* options,
                                       feedrate_loader** loader) {
  return guarded([&] {
    expect_pointer(dataset, "dataset");
    expect_pointer(loader, "loader");
    *loader = create(*dataset, options);
  });
}

void feedrate_loader_free(feedrate_loader* loader) {
  // In a child of a fork nobody could wait for the threads, which are in the parent.
  if (loader != nullptr && loader->generation == fork_generation()) delete loader;
}

feedrate_status feedrate_loader_get_info(const feedrate_loader* loader,
                                         feedrate_loader_info* info) {
  return guarded([&] {
    expect_pointer(loader, "loader");
    const loader::LoaderSetup& setup = loader->setup;
    give(info, {.size = 0,
                .batches_per_epoch = setup.batches_per_epoch,
                .height = setup.shape.height,
                .width = setup.shape.width,
                .channels = setup.shape.channels,
                .threads = setup.options.threads});
  });
}

feedrate_status feedrate_loader_next(feedrate_loader* loader, feedrate_batch** batch) {
  return guarded([&] {
    expect_pointer(loader, "loader");
    expect_pointer(batch, "batch");
    return next(*loader, batch);
  });
}

feedrate_status feedrate_loader_get_state(feedrate_loader* loader, feedrate_state* state) {
  return guarded([&] {
    expect_pointer(loader, "loader");
    expect_pointer(state, "state");
    expect_own_process(*loader);
    const std::lock_guard lock(loader->state_mutex);
    *state = {loader->state.seed, loader->state.epoch, loader->state.position};
  });
}

feedrate_status feedrate_loader_stop(feedrate_loader* loader) {
  return guarded([&] {
    expect_pointer(loader, "loader");
    stop(*loader);
  });
}

void feedrate_batch_release(feedrate_batch* batch) { delete batch; }

feedrate_status feedrate_batch_get(const feedrate_batch* batch, feedrate_batch_view* view) {
  return guarded([&] {
    expect_pointer(batch, "batch");
    give(view, view_of(*batch->contents));
  });
}

feedrate_status feedrate_batch_to_dlpack(const feedrate_batch* batch, feedrate_part part,
                                         DLManagedTensorVersioned** tensor) {
  return guarded([&] {
    expect_pointer(batch, "batch");
    expect_pointer(tensor, "tensor");
    *tensor = tensor_of(batch->contents, part);
  });
}
