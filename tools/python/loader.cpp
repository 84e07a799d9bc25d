// feedrate._native.Settings and .Run: a loader's options, and a loader at work.

#include "loader/loader.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "loader/engine/plan.h"
#include "tools/c/forks.h"
#include "tools/python/memory.hpp"
#include "tools/python/native.hpp"

namespace feedrate::tools {
using namespace formats;

namespace nb = nanobind;

namespace {

using loader::Batch;
using loader::DecodedSize;
using loader::Loader;
using loader::LoaderOptions;
using loader::LoaderState;
using loader::PixelLayout;
using loader::PixelType;

// How often a wait looks for Ctrl-C.
constexpr std::chrono::milliseconds attention{50};

/// What Python's Loader was asked for, checked.
struct Settings {
  OpenDataset dataset;
  std::shared_ptr<const loader::Picks> picks;  // of `options`; null: every sample once an epoch
  const loader::Recipe* recipe = nullptr;
  LoaderOptions options;  // of a run from the start
  Shape shape;            // of every image in a batch
  std::uint64_t batches_per_epoch = 0;

  std::uint64_t epoch_size() const { return picks ? picks->size() : dataset.data->size(); }
};

template <class Value>
Value choice(std::string_view option, std::string_view wanted,
             std::initializer_list<std::pair<std::string_view, Value>> values) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : values) {
    if (name == wanted) return value;
    names.push_back(name);
  }
  throw Error(unknown_kind(option, wanted, names));
}

struct Options {
  std::string recipe, pixels, last, on_bad, decode;
  std::optional<std::string> layout;
  std::uint32_t batch = 0, rank = 0, ranks = 0;
  std::optional<unsigned> threads;  // nothing: find the best number
  bool shuffle = true;
  std::uint64_t seed = 0, window = 0, bad_budget = 0;
  std::vector<double> mean, deviation;
  unsigned io_threads = 0;
};

Settings settings_of(const OpenDataset& dataset, std::shared_ptr<const loader::Picks> picks,
                     const Options& asked) {
  using loader::BadPolicy;
  using loader::LastBatch;
  Settings settings{dataset, std::move(picks), &loader::recipe(asked.recipe), {}, {}};
  settings.shape = settings.recipe->shape(dataset.data->info().shape);
  LoaderOptions& options = settings.options;
  options.engine.tune = !asked.threads;
  // Python's own thread computes.
  options.threads = asked.threads.value_or(loader::loader_cores(true));
  options.engine.max_threads = options.threads;
  options.engine.io_threads = asked.io_threads;
  options.batch = asked.batch;
  options.start.seed = asked.seed;
  options.pixels.type =
      choice<PixelType>("pixel type", asked.pixels,
                        {{"u8", PixelType::u8}, {"f32", PixelType::f32}, {"f16", PixelType::f16}});
  if (options.pixels.type == PixelType::u8 && !(asked.mean.empty() && asked.deviation.empty())) {
    throw Error("mean and deviation need pixels='f32' or 'f16'");
  }
  options.pixels.set_scales(asked.mean, asked.deviation, settings.shape.channels);
  if (asked.layout) {
    options.pixels.layout =
        choice<PixelLayout>("layout", *asked.layout,
                            {{"nhwc", PixelLayout::interleaved}, {"nchw", PixelLayout::planar}});
  }
  options.decoded = choice<DecodedSize>("size of decoded JPEGs", asked.decode,
                                        {{name(DecodedSize::full), DecodedSize::full},
                                         {name(DecodedSize::scaled), DecodedSize::scaled}});
  loader::check_decoded(*dataset.data, *settings.recipe, options.decoded);
  options.order = {
      .shuffle = asked.shuffle,
      .window = asked.window,
      .last = choice<LastBatch>(
          "last batch", asked.last,
          {{"partial", LastBatch::partial}, {"drop", LastBatch::drop}, {"wrap", LastBatch::wrap}})};
  options.order.picks = settings.picks.get();
  options.share = {.rank = asked.rank, .ranks = asked.ranks};
  options.bad = {
      .policy = choice<BadPolicy>(
          "policy for bad samples", asked.on_bad,
          {{"fail", BadPolicy::fail}, {"replace", BadPolicy::replace}, {"skip", BadPolicy::skip}}),
      .budget = asked.bad_budget};
  settings.batches_per_epoch =
      loader::detail::Plan(options, settings.epoch_size(), settings.shape.bytes())
          .batches_per_epoch();
  return settings;
}

// Every Error is about an option.
template <class Make>
auto checked(Make make) {
  try {
    return make();
  } catch (const Error& error) {
    throw nb::value_error(error.what());
  }
}

/// A loader at work. Any Python thread may call it; one at a time takes a batch.
class Run {
 public:
  Run(const Settings& settings, LoaderState start, std::uint64_t epochs, const nb::object& pin,
      const nb::object& unpin)
      : dataset_(settings.dataset),
        picks_(settings.picks),
        generation_(fork_generation()),
        memory_(memory_of(pin, unpin)) {
    LoaderOptions options = settings.options;
    options.start = start;
    options.epochs = epochs;
    options.engine.memory = &memory_->pixels();
    if (generation_ > 0 && threads_before_fork() && options.threads > 0) {
      throw std::runtime_error(
          "this process was forked from one whose loaders had started threads, which a fork does "
          "not copy: start processes with 'spawn' or 'forkserver', or load with threads=0");
    }
    const nb::gil_scoped_release others_run;
    if (options.threads > 0) note_threads();
    loader_ = checked(
        [&] { return std::make_unique<Loader>(*dataset_.data, *settings.recipe, options); });
  }
  ~Run() { close(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// (images, labels, indices, number, epoch, last_of_epoch, own_share, epoch of the state after it,
  /// position of that state), or None at the end.
  nb::object next();
  nb::dict stats();
  /// Ends the threads. Batches stay.
  void close() noexcept;

 private:
  void expect_own_process() const;
  bool await();
  nb::object arrays(const Batch& batch, const LoaderState& after,
                    std::shared_ptr<const std::byte> memory) const;

  OpenDataset dataset_;
  std::shared_ptr<const loader::Picks> picks_;
  unsigned generation_;
  std::shared_ptr<BatchMemory> memory_;
  std::mutex mutex_;  // of loader_; taken without the GIL
  std::unique_ptr<Loader> loader_;
};

void Run::expect_own_process() const {
  if (generation_ == fork_generation()) return;
  throw std::runtime_error(
      "this loader belongs to the process that this one was forked from, and so do its threads: "
      "make a loader in this process; where the parent's had threads, start this process with "
      "'spawn' or 'forkserver'");
}

// Returns true when next() need not wait. Without the GIL, so that other Python threads run.
bool Run::await() {
  while (!loader_->wait(attention)) {
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  return true;
}

nb::object Run::next() {
  expect_own_process();
  Batch batch;
  LoaderState after;
  std::shared_ptr<const std::byte> memory;
  {
    const nb::gil_scoped_release others_run;
    const std::lock_guard lock(mutex_);
    const Batch* next = loader_ != nullptr && await() ? loader_->next() : nullptr;
    if (next != nullptr) {
      batch = *next;
      memory = loader_->keep();
      after = loader_->state();
    }
  }
  return memory ? arrays(batch, after, std::move(memory)) : nb::none();
}

nb::object Run::arrays(const Batch& batch, const LoaderState& after,
                       std::shared_ptr<const std::byte> memory) const {
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
  const std::size_t count = batch.count, height = batch.shape.height, width = batch.shape.width,
                    channels = batch.shape.channels;
  const auto kind =
      batch.type == PixelType::u8 ? nb::dlpack::dtype_code::UInt : nb::dlpack::dtype_code::Float;
  const nb::dlpack::dtype type{static_cast<std::uint8_t>(kind),
                               static_cast<std::uint8_t>(8 * loader::bytes_of(batch.type)), 1};
  std::byte* const first = batch.bytes().data();
  const nb::object images = batch.layout == PixelLayout::planar
                                ? array(first, {count, channels, height, width}, type, owner)
                                : array(first, {count, height, width, channels}, type, owner);
  const auto integers = nb::dtype<std::int64_t>();
  return nb::make_tuple(images, array(numbers->labels.data(), {count}, integers, numbers_owner),
                        array(numbers->indices.data(), {count}, integers, numbers_owner),
                        batch.number, batch.epoch, batch.last_of_epoch, batch.own_share,
                        after.epoch, after.position);
}

nb::dict Run::stats() {
  expect_own_process();
  loader::LoaderStats stats;
  {
    const nb::gil_scoped_release others_run;
    const std::lock_guard lock(mutex_);
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
  all["bad_seats"] = stats.bad_seats;
  all["shrunk_images"] = stats.shrunk;
  all["threads"] = stats.threads;
  return all;
}

void Run::close() noexcept {
  if (generation_ != fork_generation()) {
    // Its threads are in another process: nobody could wait for them.
    static_cast<void>(loader_.release());
    return;
  }
  const nb::gil_scoped_release others_run;
  const std::lock_guard lock(mutex_);
  loader_.reset();
}

}  // namespace

void add_loader(nb::module_& module) {
  nb::class_<Settings>(module, "Settings", "The options of a loader, checked.")
      .def_ro("batches_per_epoch", &Settings::batches_per_epoch)
      .def_prop_ro("epoch_size", &Settings::epoch_size)
      .def_prop_ro("mixes",
                   [](const Settings& settings) { return !settings.recipe->mixers().empty(); })
      .def_prop_ro("threads", [](const Settings& settings) { return settings.options.threads; })
      .def_prop_ro("planar",
                   [](const Settings& settings) {
                     return settings.options.pixels.wanted_layout() == PixelLayout::planar;
                   })
      .def_prop_ro("image_shape",
                   [](const Settings& settings) {
                     const Shape shape = settings.shape;
                     return nb::make_tuple(shape.height, shape.width, shape.channels);
                   })
      .def(
          "__init__",
          [](Settings* self, const OpenDataset& dataset, const EpochPicks* picks,
             std::string recipe, std::uint32_t batch, std::optional<unsigned> threads,
             std::uint64_t seed, std::uint32_t rank, std::uint32_t ranks, bool shuffle,
             std::uint64_t window, std::string last, std::string pixels,
             std::optional<std::string> layout, std::vector<double> mean,
             std::vector<double> deviation, std::string on_bad, std::uint64_t bad_budget,
             unsigned io_threads, std::string decode) {
            const Options asked{.recipe = std::move(recipe),
                                .pixels = std::move(pixels),
                                .last = std::move(last),
                                .on_bad = std::move(on_bad),
                                .decode = std::move(decode),
                                .layout = std::move(layout),
                                .batch = batch,
                                .rank = rank,
                                .ranks = ranks,
                                .threads = threads,
                                .shuffle = shuffle,
                                .seed = seed,
                                .window = window,
                                .bad_budget = bad_budget,
                                .mean = std::move(mean),
                                .deviation = std::move(deviation),
                                .io_threads = io_threads};
            new (self) Settings(checked([&] {
              return settings_of(dataset, picks != nullptr ? picks->picks : nullptr, asked);
            }));
          },
          nb::arg("dataset"), nb::kw_only(), nb::arg("picks").none(), nb::arg("recipe"),
          nb::arg("batch"), nb::arg("threads").none(), nb::arg("seed"), nb::arg("rank"),
          nb::arg("ranks"), nb::arg("shuffle"), nb::arg("window"), nb::arg("last"),
          nb::arg("pixels"), nb::arg("layout").none(), nb::arg("mean"), nb::arg("deviation"),
          nb::arg("on_bad"), nb::arg("bad_budget"), nb::arg("io_threads"), nb::arg("decode"));
  nb::class_<Run>(module, "Run", nb::is_weak_referenceable(), "A loader at work.")
      .def(
          "__init__",
          [](Run* self, const Settings& settings, std::uint64_t seed, std::uint64_t epoch,
             std::uint64_t position, std::uint64_t epochs, const nb::object& pin,
             const nb::object& unpin) {
            new (self) Run(settings, {seed, epoch, position}, epochs, pin, unpin);
          },
          nb::arg("settings"), nb::arg("seed"), nb::arg("epoch"), nb::arg("position"),
          nb::arg("epochs"), nb::arg("pin").none(), nb::arg("unpin").none())
      .def("next", &Run::next)
      .def("stats", &Run::stats)
      .def("close", &Run::close);
}

}  // namespace feedrate::tools
