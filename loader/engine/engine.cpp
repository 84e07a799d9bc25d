#include "loader/engine/engine.h"

#include <algorithm>
#include <set>

namespace feedrate::loader {
using namespace formats;
using namespace detail;

namespace {

unsigned max_threads(const LoaderOptions& options) {
  return options.threads == 0 ? 0 : std::max(options.threads, options.engine.max_threads);
}

// A slot for each worker, one in use and one filled. Batches that take microseconds to fill get
// more slots: otherwise threads that share a core would switch at every batch. 1 MiB stays cached.
unsigned depth_of(const LoaderOptions& options, std::size_t batch_bytes) {
  // Filled and used in turn; ends_epoch() looks at the next one.
  if (options.threads == 0) return options.bad.policy == BadPolicy::skip ? 2 : 1;
  if (options.engine.depth != 0) return options.engine.depth;
  const std::size_t tiny = (std::size_t{1} << 20) / std::max<std::size_t>(1, batch_bytes);
  return std::max(
      {3U, max_threads(options) + 2, static_cast<unsigned>(std::min<std::size_t>(16, tiny))});
}

Shape shape_of(const Dataset& dataset, const Recipe& recipe) {
  try {
    return recipe.shape(dataset.info().shape);
  } catch (const Error& error) {
    fail(dataset.info().path, error.what());
  }
}

// Operations work on pixels, which a batch of packed JPEGs does not hold.
const Recipe& fitting(const Recipe& recipe, const LoaderOptions::Pixels& pixels) {
  if (pixels.type != PixelType::packed) return recipe;
  if (pixels.wanted_layout() == PixelLayout::planar) {
    throw Error("loader: JPEGs that stay packed become pixels with channels last, not planes");
  }
  if (!works_on_pixels(recipe)) return recipe;
  throw Error(join("recipe ", recipe.name(), ": its operations need pixels, but JPEGs are to stay ",
                   "packed; let the loader decode them"));
}

std::vector<std::unique_ptr<TraceLane>> make_lanes(const LoaderOptions& options) {
  std::vector<std::unique_ptr<TraceLane>> lanes;
  if (!options.diagnosis.trace) return lanes;
  lanes.push_back(std::make_unique<TraceLane>("consumer"));
  for (unsigned i = 0; i < max_threads(options); ++i) {
    lanes.push_back(std::make_unique<TraceLane>(join("worker ", i)));
  }
  return lanes;
}

Job make_job(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options,
             const CropIndexes& crops) {
  return {.dataset = dataset,
          .recipe = fitting(recipe, options.pixels),
          .shape = shape_of(dataset, recipe),
          .seed = options.start.seed,
          .seed_of_draws = options.start.seed_of_draws(),
          .order = options.order,
          .on_bad = options.bad.policy,
          .pixels = options.pixels,
          .decoded = options.decoded,
          .counts = options.diagnosis.counts || options.diagnosis.trace || options.engine.tune,
          .crops = crops.any() ? &crops : nullptr};
}

TraceLane* lane_of(const std::vector<std::unique_ptr<TraceLane>>& lanes, std::size_t thread) {
  return thread < lanes.size() ? lanes[thread].get() : nullptr;
}

// One for each worker; without workers, one for the consumer.
std::vector<std::unique_ptr<Filler>> make_fillers(
    const Job& job, const Plan& plan, unsigned workers,
    const std::vector<std::unique_ptr<TraceLane>>& lanes) {
  std::vector<std::unique_ptr<Filler>> fillers;
  const auto add = [&](std::size_t thread) {
    fillers.push_back(std::make_unique<Filler>(job, plan.chunk_length(), lane_of(lanes, thread)));
  };
  if (workers == 0) add(0);
  for (unsigned worker = 0; worker < workers; ++worker) add(worker + std::size_t{1});
  return fillers;
}

void add(const CropCounters& counted, CropStats& sum) {
  sum.parts += counted.parts.get();
  sum.indexed += counted.indexed.get();
  sum.stale += counted.stale.get();
  sum.mcus_read += counted.mcus_read.get();
  sum.mcus += counted.mcus.get();
  sum.bytes_read += counted.bytes_read.get();
  sum.bytes += counted.bytes.get();
}

// Where no batch is left of an epoch, the next one begins.
LoaderState first_state(const LoaderOptions& options, const Plan& plan) {
  LoaderState state = options.start;
  if (plan.starts_at_end()) state = {state.seed, state.epoch + 1, 0, state.draws};
  return state;
}

}  // namespace

Loader::Engine::Engine(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options)
    : crops_(dataset, options.engine.crop_index),
      job_(make_job(dataset, recipe, options, crops_)),
      batch_size_(options.batch),
      max_threads_(max_threads(options)),
      plan_(options, job_.epoch_size(), std::max(job_.seat_bytes(), dataset.info().shape.bytes())),
      mixes_(job_.mixes()),
      ring_(depth_of(options, plan_.max_count() * job_.seat_bytes()), plan_.max_count(),
            job_.seat_bytes(), tasks_per_batch(),
            options.engine.memory != nullptr ? *options.engine.memory : plain_memory()),
      lanes_(make_lanes(options)),
      fillers_(make_fillers(job_, plan_, max_threads_, lanes_)),
      open_(std::min(plan_.batches(), std::uint64_t{ring_.depth()}) * plan_.chunks_per_batch()),
      state_(first_state(options, plan_)),
      bad_(dataset, options.bad.budget),
      tune_(options.engine.tune && max_threads_ > 0),
      tuner_(options.threads, max_threads_, ring_.depth()),
      ahead_(job_, plan_, max_threads_ > 0 ? options.engine.io_threads : 0, claimed_, open_),
      workers_(max_threads_, [this](unsigned worker) { work(worker); }) {
  try {
    workers_.resize(options.threads);
  } catch (...) {
    stop();  // those that had been started
    throw;
  }
}

Loader::Engine::~Engine() { stop(); }

void Loader::Engine::work(unsigned worker) {
  while (const auto chunk = claim(worker)) fill(*fillers_[worker], *chunk);
}

std::optional<std::uint64_t> Loader::Engine::claim(unsigned worker) {
  std::uint64_t chunk = claimed_.load();
  while (!stop_.load() && chunk < plan_.chunks() && workers_.wanted(worker)) {
    if (chunk < open_.load()) {
      if (claimed_.compare_exchange_weak(chunk, chunk + 1)) return chunk;
      continue;
    }
    room_.wait(
        [&] { return stop_.load() || claimed_.load() < open_.load() || !workers_.wanted(worker); });
    chunk = claimed_.load();
  }
  return std::nullopt;
}

void Loader::Engine::fill(Filler& filler, std::uint64_t chunk) {
  const std::uint64_t step = chunk / plan_.chunks_per_batch();
  Slot& slot = ring_.slot(step);
  filler.fill(plan_.chunk(chunk), ring_, slot, stop_);
  std::uint32_t pending = slot.pending.fetch_sub(1) - 1;
  if (mixes_ && pending == 1) {
    // Seats to be skipped are removed first, which the consumer does.
    const bool gaps = job_.on_bad == BadPolicy::skip && !slot.faults.empty();
    const BatchRange range = plan_.batch(step);
    try {
      if (!slot.error && !gaps) filler.mix(range, range.count, slot);
    } catch (...) {  // out of memory
      ring_.fail(slot, 0, std::current_exception());
    }
    pending = slot.pending.fetch_sub(1) - 1;
  }
  if (pending == 0) ready_.wake(1);
}

void Loader::Engine::set_threads(unsigned threads) {
  if (threads == 0 || threads > max_threads_) {
    throw Error(join("loader: ", threads, " threads requested, expected 1 to ", max_threads_,
                     "; see LoaderOptions::Engine::max_threads"));
  }
  try {
    workers_.resize(threads);
  } catch (...) {
    room_.wake(max_loader_threads);
    throw;
  }
  room_.wake(max_loader_threads);  // some of them have to leave
}

void Loader::Engine::tune() {
  const std::uint64_t now = clock_ns();
  if (!tuner_.due(now, consumer_.batches.get())) return;
  TunerSums sums{.now_ns = now,
                 .batches = consumer_.batches.get(),
                 .images = consumer_.images.get(),
                 .wait_ns = consumer_.wait_ns.get()};
  for (const auto& filler : fillers_) {
    const WorkerCounters& worker = filler->counters();
    sums.filled += worker.images.get();
    sums.read_ns += worker.read_ns.get();
    sums.decode_ns += worker.decode_ns.get();
    sums.augment_ns += worker.augment_ns.get();
  }
  const unsigned threads = tuner_.update(sums);
  if (threads == workers_.count()) return;
  try {
    set_threads(threads);
  } catch (const Error&) {
    tuner_.limit(workers_.count());  // other loaders of the process use the rest
  }
}

const Batch* Loader::Engine::next() {
  for (;;) {
    give_back();
    if (stop_.load() || taken_ == plan_.batches()) return nullptr;
    const BatchRange range = plan_.batch(taken_);
    Slot& slot = ring_.slot(taken_);
    if (job_.counts) consumer_.filled.add(filled());
    if (!slot.filled()) await(slot, range.number);
    const std::uint32_t count = resolve_faults(slot, range);
    ++taken_;
    in_use_ = true;
    const bool last = range.last_of_epoch || (count > 0 && ends_epoch());
    if (lane_of(lanes_, 0) != nullptr) use_start_ns_ = clock_ns();
    state_.epoch = range.epoch + (last ? 1 : 0);
    state_.position = last ? 0 : range.after;
    expect_good_ones(range.count, count);
    if (count == 0) continue;
    consumer_.images.add(count);
    consumer_.batches.add(1);
    consumer_.repeated.add(std::min(range.repeated, count));
    if (tune_) tune();
    batch_ = {.number = range.number,
              .epoch = range.epoch,
              .count = count,
              .shape = job_.shape,
              .pixels = {},
              .labels = {slot.labels, count},
              .indices = {slot.indices, count},
              .last_of_epoch = last,
              .own_share = slot.own_share,
              .type = job_.pixels.type,
              .layout = job_.pixels.wanted_layout(),
              .scales = job_.pixels.scales,
              .seat_bytes = job_.seat_bytes()};
    batch_.set_bytes(slot.pixels);
    return &batch_;
  }
}

// Throws the batch's error, or returns how many images are left in it.
std::uint32_t Loader::Engine::resolve_faults(Slot& slot, const BatchRange& range) {
  if (!slot.error && slot.faults.empty()) return range.count;
  try {
    if (slot.error) std::rethrow_exception(slot.error);
    bad_.add(slot.faults);
  } catch (...) {
    stop();
    throw;
  }
  consumer_.bad_seats.add(slot.faults.size());
  const bool skip = job_.on_bad == BadPolicy::skip;
  const std::uint32_t count = skip ? ring_.close_gaps(slot, range.count) : range.count;
  slot.faults.clear();
  if (mixes_ && skip) mix_batch(job_, range, count, slot, scratch_);
  return count;
}

// A run without end would look for a good sample for ever, where the bad ones are too few for the
// budget. An epoch of few samples, all bad by chance, is no proof.
void Loader::Engine::expect_good_ones(std::uint32_t of, std::uint32_t good) {
  skipped_ = good == 0 ? skipped_ + of : 0;
  constexpr std::uint64_t proof = 100;  // samples, as many as substitutes are tried
  if (taken_ == plan_.batches() || skipped_ < std::max(proof, job_.epoch_size())) return;
  stop();
  throw Error(join(
      "all of the last ", skipped_,
      " samples, a whole epoch and more, were bad; the first: ", bad_.samples().front().reason));
}

// Whether all that the epoch has left will be skipped, so that no other batch of it comes. Looks as
// far as the ring reaches, and waits only near the end of an epoch.
bool Loader::Engine::ends_epoch() {
  if (job_.on_bad != BadPolicy::skip) return false;
  const std::uint64_t limit = std::min(taken_ + ring_.depth() - 1, plan_.batches());
  std::uint64_t last = taken_;
  while (last < limit && !plan_.batch(last).last_of_epoch) ++last;
  if (last >= limit) return false;
  for (std::uint64_t step = taken_; step <= last; ++step) {
    const BatchRange range = plan_.batch(step);
    Slot& slot = ring_.slot(step);
    if (!slot.filled()) await(slot, range.number);
    if (slot.error || slot.faults.size() < range.count) return false;
  }
  return true;
}

bool Loader::Engine::wait(std::chrono::nanoseconds limit) {
  give_back();
  if (stop_.load() || taken_ == plan_.batches() || max_threads_ == 0) return true;
  Slot& slot = ring_.slot(taken_);
  return slot.filled() || await(slot, plan_.batch(taken_).number, limit);
}

std::shared_ptr<const std::byte> Loader::Engine::keep() const {
  return in_use_ ? ring_.slot(taken_ - 1).block : nullptr;
}

bool Loader::Engine::await(Slot& slot, std::uint64_t batch,
                           std::optional<std::chrono::nanoseconds> limit) {
  const std::uint64_t start = clock_ns();
  bool filled = true;
  if (max_threads_ == 0) {
    while (!slot.filled()) fill(*fillers_.front(), claimed_.fetch_add(1));
  } else if (limit) {
    filled = ready_.wait_for(*limit, [&] { return slot.filled(); });
  } else {
    ready_.wait([&] { return slot.filled(); });
  }
  const std::uint64_t end = clock_ns();
  consumer_.wait_ns.add(end - start);
  if (taken_ == 0) consumer_.first_wait_ns.add(end - start);
  if (TraceLane* trace = lane_of(lanes_, 0)) trace->add(Activity::wait, start, end, batch);
  return filled;
}

void Loader::Engine::give_back() {
  if (!in_use_) return;
  // The slot's next batch is `depth` further on, unless the run ends before it.
  const bool reused = taken_ - 1 + ring_.depth() < plan_.batches();
  if (reused) ring_.renew(ring_.slot(taken_ - 1));
  in_use_ = false;
  if (TraceLane* trace = lane_of(lanes_, 0)) {
    trace->add(Activity::use, use_start_ns_, clock_ns(), batch_.number);
  }
  if (!reused) return;
  ring_.slot(taken_ - 1).pending.store(tasks_per_batch());
  open_.fetch_add(plan_.chunks_per_batch());
  room_.wake(plan_.chunks_per_batch());
  ahead_.wake();
}

std::uint64_t Loader::Engine::filled() const {
  const std::uint64_t limit =
      std::min<std::uint64_t>(ring_.depth() - (in_use_ ? 1 : 0), plan_.batches() - taken_);
  std::uint64_t filled = 0;
  while (filled < limit && ring_.slot(taken_ + filled).filled()) ++filled;
  return filled;
}

std::uint64_t Loader::Engine::ready_images() const {
  std::uint64_t images = 0;
  const std::uint64_t end = taken_ + filled();
  for (std::uint64_t step = taken_; step < end; ++step) images += plan_.batch(step).count;
  return images;
}

void Loader::Engine::stop() {
  stop_.store(true);
  room_.wake(max_loader_threads);
}

LoaderState Loader::Engine::state() const { return state_; }

LoaderStats Loader::Engine::stats() const {
  LoaderStats stats;
  stats.images = consumer_.images.get();
  stats.batches = consumer_.batches.get();
  stats.bad_seats = consumer_.bad_seats.get();
  stats.repeated = consumer_.repeated.get();
  stats.wait_seconds = seconds(consumer_.wait_ns.get());
  stats.first_wait_seconds = seconds(consumer_.first_wait_ns.get());
  stats.alive_seconds = seconds(clock_ns() - origin_ns_);
  if (stats.batches > 0) {
    stats.mean_filled =
        static_cast<double>(consumer_.filled.get()) / static_cast<double>(stats.batches);
  }
  std::set<std::thread::id> threads;
  for (const auto& filler : fillers_) {
    const WorkerCounters& worker = filler->counters();
    stats.bytes_read += worker.bytes_read.get();
    stats.busy_read += seconds(worker.read_ns.get());
    stats.busy_decode += seconds(worker.decode_ns.get());
    stats.busy_augment += seconds(worker.augment_ns.get());
    add(worker.crops, stats.crops);
    stats.shrunk += worker.shrunk.get();
    threads.insert(worker.thread.load(std::memory_order_relaxed));
  }
  threads.erase(std::thread::id());
  stats.threads = workers_.count();
  stats.asked_ahead = ahead_.asked();
  stats.workers_seen = static_cast<unsigned>(threads.size());
  return stats;
}

void Loader::Engine::write_trace(const std::filesystem::path& file) const {
  if (lanes_.empty())
    throw Error("loader: no trace was recorded; set LoaderOptions::Diagnosis::trace");
  write_chrome_trace(file, lanes_, origin_ns_);
}

}  // namespace feedrate::loader
