// feedrate._native.Run: a loader at work.

#include <nanobind/stl/shared_ptr.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tools/bindings/c/forks.h"
#include "tools/bindings/python/device_decoder.hpp"
#include "tools/bindings/python/memory.hpp"
#include "tools/bindings/python/progress.hpp"
#include "tools/bindings/python/settings.hpp"

namespace feedrate::tools {
using namespace formats;

namespace nb = nanobind;

namespace {

using loader::Batch;
using loader::Loader;
using loader::LoaderOptions;
using loader::PixelLayout;
using loader::PixelType;

// How often a wait looks for Ctrl-C, and for close().
constexpr std::chrono::milliseconds attention{50};

void notice_signals() {
  const nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// A loader at work, for one turn. Any number of Python threads may call it; they take batches one
/// after the other.
class Run {
 public:
  /// `epochs`: of the whole progress; 0: without end. `packed`: JPEGs stay so, for a device.
  Run(const Settings& settings, std::shared_ptr<Progress> progress, const MemoryOfLoader& memory,
      std::uint64_t epochs, bool packed);
  ~Run() { close(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Takes a batch: (taken, (images, labels, indices, number, epoch, last_of_epoch, own_share)), or None
  /// at the end. The images of a packed batch are a PackedBatch.
  nb::object next();
  /// Says that a batch that was taken is its receiver's from now on. The setter of a property, since Python
  /// handles signals behind calls, but not behind an assignment: nothing comes between it and a `return`.
  void hand_out(Progress::Taken batch);
  nb::dict stats();
  void add_transform(double seconds) { transform_seconds_.fetch_add(seconds); }
  /// Ends the threads, also while others wait for a batch. Batches stay.
  void close() noexcept;

 private:
  using Lock = std::unique_lock<std::recursive_timed_mutex>;

  void expect_own_process() const;
  Lock lock();
  bool await();
  nb::object arrays(const Batch& batch, std::shared_ptr<const std::byte> memory) const;

  OpenDataset dataset_;
  std::shared_ptr<const loader::Picks> picks_;
  std::shared_ptr<const OwnLabels> labels_;
  std::shared_ptr<Progress> progress_;
  Progress::Turn turn_;
  unsigned generation_;
  std::shared_ptr<BatchMemory> memory_;
  std::atomic<double> transform_seconds_ = 0;
  std::atomic<bool> closed_ = false;
  // Of loader_; taken without the GIL, and again by a signal's handler that runs during a wait.
  std::recursive_timed_mutex mutex_;
  std::unique_ptr<Loader> loader_;  // null: closed, or nothing is left
};

Run::Run(const Settings& settings, std::shared_ptr<Progress> progress, const MemoryOfLoader& memory,
         std::uint64_t epochs, bool packed)
    : dataset_(settings.dataset),
      picks_(settings.picks),
      labels_(settings.labels),
      progress_(std::move(progress)),
      turn_(progress_->begin()),
      generation_(fork_generation()),
      memory_(memory.memory) {
  if (epochs != 0 && turn_.start.epoch >= epochs) return;
  LoaderOptions options = settings.setup.options;
  options.start = turn_.start;
  options.epochs = epochs != 0 ? epochs - turn_.start.epoch : 0;
  options.engine.memory = memory_.get();
  if (packed)
    options.pixels = {.type = PixelType::packed, .packed_bytes = options.pixels.packed_bytes};
  if (generation_ > 0 && threads_before_fork() && options.threads > 0) {
    throw std::runtime_error(
        "this process was forked from one whose loaders had started threads, which a fork does "
        "not copy: start processes with 'spawn' or 'forkserver', or load with threads=0");
  }
  if (leaving_python()) throw std::runtime_error("the interpreter ends");
  const OthersRun others_run;
  if (options.threads > 0) note_threads();
  loader_ = checked(
      [&] { return std::make_unique<Loader>(*dataset_.data, *settings.setup.recipe, options); });
  memory_->keep(loader_->slots());
}

void Run::expect_own_process() const {
  if (generation_ == fork_generation()) return;
  throw std::runtime_error(
      "this loader belongs to the process that this one was forked from, and so do its threads: "
      "make a loader in this process; where the parent's had threads, start this process with "
      "'spawn' or 'forkserver'");
}

[[noreturn]] void refuse_ended() {
  throw std::runtime_error(
      "this iteration was ended by close(), load_state_dict() or a newer iteration");
}

// Without the GIL, so that other Python threads run.
Run::Lock Run::lock() {
  Lock lock(mutex_, std::defer_lock);
  while (!lock.try_lock_for(attention)) notice_signals();
  return lock;
}

// Returns true when next() need not wait, false when there is no loader any more. Without the GIL.
bool Run::await() {
  while (!closed_ && loader_ != nullptr) {
    if (loader_->wait(attention)) return true;
    notice_signals();
  }
  return false;
}

nb::object Run::next() {
  expect_own_process();
  if (PyErr_CheckSignals() != 0) throw nb::python_error();  // before there is a batch to lose
  Batch batch;
  std::shared_ptr<const std::byte> memory;
  Progress::Taken taken;
  bool ended = false;
  {
    const OthersRun others_run;
    const Lock taking = lock();
    if (const Batch* next = await() ? loader_->next() : nullptr) {
      batch = *next;
      memory = loader_->keep();
      taken = progress_->take(turn_.number, loader_->state());
    }
    ended = !progress_->lasts(turn_.number);
  }
  if (ended) refuse_ended();
  if (!memory) return nb::none();
  return nb::make_tuple(taken, arrays(batch, std::move(memory)));
}

void Run::hand_out(Progress::Taken batch) {
  if (!progress_->hand_out(batch)) refuse_ended();
}

// The owner keeps the memory.
nb::object images_of(const Batch& batch, const nb::capsule& owner) {
  if (batch.type == PixelType::packed) return nb::cast(PackedBatch{batch, owner});
  const std::size_t count = batch.count, height = batch.shape.height, width = batch.shape.width,
                    channels = batch.shape.channels;
  const auto kind =
      batch.type == PixelType::u8 ? nb::dlpack::dtype_code::UInt : nb::dlpack::dtype_code::Float;
  const nb::dlpack::dtype type{static_cast<std::uint8_t>(kind),
                               static_cast<std::uint8_t>(8 * loader::bytes_of(batch.type)), 1};
  std::byte* const first = batch.bytes().data();
  return batch.layout == PixelLayout::planar
             ? array(first, {count, channels, height, width}, type, owner)
             : array(first, {count, height, width, channels}, type, owner);
}

nb::object Run::arrays(const Batch& batch, std::shared_ptr<const std::byte> memory) const {
  // The images' owner keeps the slot's memory; what is small is copied out of it.
  struct Keeper {
    std::shared_ptr<BatchMemory> source;  // dies after what it gave
    std::shared_ptr<const std::byte> memory;
    unsigned generation;
  };
  const auto drop = [](void* kept) noexcept {
    auto* keeper = static_cast<Keeper*>(kept);
    // In a child the lock of the pool may be held by a thread that is not there.
    if (keeper->generation == fork_generation()) delete keeper;
  };
  const nb::capsule owner(new Keeper{memory_, std::move(memory), generation_}, drop);
  struct Numbers {
    std::vector<std::int64_t> labels, indices;
  };
  auto* numbers = new Numbers{{batch.labels.begin(), batch.labels.end()},
                              {batch.indices.begin(), batch.indices.end()}};
  const nb::capsule numbers_owner(numbers,
                                  [](void* held) noexcept { delete static_cast<Numbers*>(held); });
  const std::size_t count = batch.count;
  const auto integers = nb::dtype<std::int64_t>();
  const nb::object labels = labels_
                                ? labels_->of(batch.indices)
                                : array(numbers->labels.data(), {count}, integers, numbers_owner);
  return nb::make_tuple(images_of(batch, owner), labels,
                        array(numbers->indices.data(), {count}, integers, numbers_owner),
                        batch.number, batch.epoch, batch.last_of_epoch, batch.own_share);
}

nb::dict Run::stats() {
  expect_own_process();
  loader::LoaderStats stats;
  {
    const OthersRun others_run;
    const Lock looking = lock();
    if (loader_ != nullptr) stats = loader_->stats();
  }
  nb::dict all;
  all["images"] = stats.images;
  all["batches"] = stats.batches;
  all["bytes_read"] = stats.bytes_read;
  all["wait_seconds"] = stats.wait_seconds;
  all["busy_read_seconds"] = stats.busy_read;
  all["busy_decode_seconds"] = stats.busy_decode;
  all["busy_augment_seconds"] = stats.busy_augment;
  all["repeated_images"] = stats.repeated;
  all["bad_seats"] = stats.bad_seats;
  all["shrunk_images"] = stats.shrunk;
  all["threads"] = stats.threads;
  all["transform_seconds"] = transform_seconds_.load();
  return all;
}

void Run::close() noexcept {
  if (generation_ != fork_generation()) {
    // Its threads are in another process: nobody could wait for them.
    static_cast<void>(loader_.release());
    return;
  }
  closed_ = true;
  const OthersRun others_run;
  const std::lock_guard lock(mutex_);
  loader_.reset();
}

}  // namespace

void add_run(nb::module_& module) {
  nb::class_<Run>(module, "Run", nb::is_weak_referenceable(), "A loader at work.")
      .def(nb::init<const Settings&, std::shared_ptr<Progress>, const MemoryOfLoader&,
                    std::uint64_t, bool>(),
           nb::arg("settings"), nb::arg("progress"), nb::arg("memory"), nb::arg("epochs"),
           nb::arg("packed"))
      .def("next", &Run::next,
           nb::sig("def next(self) -> tuple[Taken, tuple[object, object, object, int, int, bool, "
                   "float]] | None"))
      .def_prop_rw(
          "handed_out", [](const Run&) { return nb::none(); }, &Run::hand_out,
          "What next() took, to be set once its receiver has it.")
      .def("stats", &Run::stats, nb::sig("def stats(self) -> dict[str, float]"))
      .def("add_transform", &Run::add_transform, nb::arg("seconds"))
      .def("close", &Run::close);
}

}  // namespace feedrate::tools
