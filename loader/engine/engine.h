#pragma once
// How workers and the consumer meet. Chunks of batches are numbered through all batches: chunk c
// belongs to batch c / chunks_per_batch, and that batch to slot (batch % depth). Three counters hold
// the whole state:
//
//      given back        in use        filled and filling        free
//   ───────────────────┬────────┬──────────────────────────┬────────────────┐
//   chunks 0 …         │ taken_ │                     claimed_            open_
//                                                        └─ the next worker takes this one
//
// A worker claims the next chunk by raising claimed_. The consumer raises open_ by a batch's chunks
// when it gives back the slot of an earlier batch. There is no other coordination: no queue, no
// lock while there is work, and no barrier between batches or epochs.

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "loader/engine/batch_plan.h"
#include "loader/engine/counters.h"
#include "loader/engine/crop_indexes.h"
#include "loader/engine/filler.h"
#include "loader/engine/gate.h"
#include "loader/engine/look_ahead.h"
#include "loader/engine/slot_ring.h"
#include "loader/engine/trace.h"
#include "loader/engine/workers.h"
#include "loader/loader.h"

namespace feedrate::loader {

class Loader::Engine {
 public:
  Engine(const formats::Dataset& dataset, const Recipe& recipe, const LoaderOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const Batch* next();
  bool wait(std::chrono::nanoseconds limit);
  std::shared_ptr<const std::byte> keep() const;
  formats::Shape shape() const { return job_.shape; }
  std::uint32_t batch_size() const { return batch_size_; }
  std::uint64_t batches_per_epoch() const { return plan_.batches_per_epoch(); }
  unsigned slots() const { return ring_.depth(); }
  std::uint64_t ready_images() const;
  void set_threads(unsigned threads);
  const Tuning& tuning() const { return tuner_.tuning(); }
  LoaderState state() const;
  const std::vector<BadSample>& bad_samples() const { return bad_.samples(); }
  LoaderStats stats() const;
  const std::string& crop_index_problem() const { return crops_.problem(); }
  void write_trace(const std::filesystem::path& file) const;

 private:
  // Called by workers.
  void work(unsigned worker);
  std::optional<std::uint64_t> claim(unsigned worker);
  void fill(detail::Filler& filler, std::uint64_t chunk);

  // Called by the consumer.
  void give_back();
  // Returns whether the slot is filled; false after `limit`.
  bool await(detail::Slot& slot, std::uint64_t batch,
             std::optional<std::chrono::nanoseconds> limit = std::nullopt);
  std::uint32_t resolve_faults(detail::Slot& slot, const detail::BatchRange& range);
  void expect_good_ones(std::uint32_t of, std::uint32_t good);
  bool ends_epoch();
  unsigned tasks_per_batch() const { return plan_.chunks_per_batch() + (mixes_ ? 1U : 0U); }
  std::uint64_t filled() const;  // batches that can be handed out now
  void tune();
  void stop();

  const detail::CropIndexes crops_;
  const detail::Job job_;
  const std::uint32_t batch_size_;
  const unsigned max_threads_;
  const detail::Plan plan_;
  const bool mixes_;  // batches, once their chunks are filled
  const std::uint64_t origin_ns_ = detail::clock_ns();
  detail::Ring ring_;
  std::vector<std::unique_ptr<detail::TraceLane>> lanes_;  // the consumer's, then the workers'
  std::vector<std::unique_ptr<detail::Filler>> fillers_;   // one a worker; one without workers

  alignas(64) std::atomic<std::uint64_t> claimed_{0};
  alignas(64) std::atomic<std::uint64_t> open_{0};
  std::atomic<bool> stop_{false};
  detail::Gate room_;   // workers wait here for open_ to rise
  detail::Gate ready_;  // the consumer waits here for a batch

  alignas(64) std::uint64_t taken_ = 0;  // batches handed out
  bool in_use_ = false;                  // the last of these is still in use
  std::uint64_t use_start_ns_ = 0;
  Batch batch_;
  LoaderState state_;
  detail::BadList bad_;
  std::uint64_t skipped_ = 0;  // images since the last good one
  formats::Buffer scratch_;  // for a batch that the consumer has to mix
  detail::ConsumerCounters consumer_;
  const bool tune_;
  detail::Tuner tuner_;

  detail::LookAhead ahead_;
  detail::Workers workers_;  // last, since they use everything above
};

}  // namespace feedrate::loader
