#include "tools/bindings/c/options.h"

#include <bit>
#include <limits>
#include <span>
#include <vector>

#include "loader/engine/plan.h"
#include "tools/bindings/c/forks.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;

namespace {

constexpr std::int64_t max_threads = 256, max_io_threads = 64;

[[noreturn]] void misused(const std::string& text) { throw Failure(FEEDRATE_MISUSED, text); }

feedrate_loader_options defaults() {
  feedrate_loader_options all{};
  all.size = sizeof all;
  all.recipe = "none";
  all.batch = 64;
  all.threads = FEEDRATE_THREADS_AUTO;
  all.epochs = 1;
  all.start.seed = 1;
  all.ranks = 1;
  all.shuffle = 1;
  all.bad_budget = 100;
  all.io_threads = 1;
  return all;
}

// The caller's options; the defaults of those that it does not know.
feedrate_loader_options completed(const feedrate_loader_options* given) {
  expect_pointer(given, "options");
  expect_size(given->size, first_size<feedrate_loader_options>, "options");
  feedrate_loader_options all = defaults();
  std::memcpy(static_cast<void*>(&all), given, std::min(given->size, sizeof all));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof all; i < given->size; ++i) {
    if (bytes[i] != 0) {
      misused(join("options: byte ", i, " is set, but this is feedrate ", FEEDRATE_VERSION,
                   ", whose options have ", sizeof all, " bytes; install a newer library"));
    }
  }
  return all;
}

void expect_between(const char* name, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return;
  misused(join(name, ": expected a number from ", low, " to ", high, ", found ", value));
}

std::vector<double> numbers(const char* name, const double* first, std::uint32_t count) {
  if (count > 0) expect_pointer(first, name);
  return {first, first + count};
}

LoaderOptions translated(const feedrate_loader_options& given, const Dataset& dataset) {
  expect_between("batch", given.batch, 1, std::numeric_limits<std::int32_t>::max());
  expect_between("threads", given.threads, FEEDRATE_THREADS_AUTO, max_threads);
  expect_between("io_threads", given.io_threads, 0, max_io_threads);
  expect_between("pixels", given.pixels, FEEDRATE_PIXELS_U8, FEEDRATE_PIXELS_F16);
  expect_between("layout", given.layout, FEEDRATE_LAYOUT_USUAL, FEEDRATE_LAYOUT_NCHW);
  expect_between("last", given.last, FEEDRATE_LAST_PARTIAL, FEEDRATE_LAST_WRAP);
  expect_between("on_bad", given.on_bad, FEEDRATE_BAD_FAIL, FEEDRATE_BAD_SKIP);
  if (given.start.position > dataset.size()) {
    misused(join("start.position: expected at most ", dataset.size(), ", found ",
                 given.start.position));
  }
  LoaderOptions options;
  options.engine.tune = given.threads == FEEDRATE_THREADS_AUTO;
  // The thread that takes the batches computes.
  options.threads = options.engine.tune ? loader_cores(true) : static_cast<unsigned>(given.threads);
  options.engine.max_threads = options.threads;
  options.engine.io_threads = given.io_threads;
  options.batch = given.batch;
  options.start = {given.start.seed, given.start.epoch, given.start.position};
  options.epochs = given.epochs == 0 ? 0 : given.epochs - given.start.epoch;
  options.pixels.type = pixel_types[given.pixels];
  if (given.layout == FEEDRATE_LAYOUT_NHWC) options.pixels.layout = PixelLayout::interleaved;
  if (given.layout == FEEDRATE_LAYOUT_NCHW) options.pixels.layout = PixelLayout::planar;
  options.order = {.shuffle = given.shuffle != 0,
                   .window = given.window,
                   .last = static_cast<LastBatch>(given.last)};
  options.share = {.rank = given.rank, .ranks = given.ranks};
  options.bad = {.policy = static_cast<BadPolicy>(given.on_bad), .budget = given.bad_budget};
  return options;
}

static_assert(static_cast<int>(LastBatch::drop) == FEEDRATE_LAST_DROP &&
              static_cast<int>(LastBatch::wrap) == FEEDRATE_LAST_WRAP &&
              static_cast<int>(BadPolicy::replace) == FEEDRATE_BAD_REPLACE &&
              static_cast<int>(BadPolicy::skip) == FEEDRATE_BAD_SKIP &&
              pixel_types[FEEDRATE_PIXELS_F32] == PixelType::f32 &&
              pixel_types[FEEDRATE_PIXELS_F16] == PixelType::f16);

Asked asked_of(const feedrate_loader_options& given, const Dataset& dataset) {
  Asked asked;
  asked.recipe = &recipe(given.recipe != nullptr ? given.recipe : "none");
  if (!asked.recipe->mixers().empty()) {
    misused(join("recipe ", asked.recipe->name(),
                 " mixes images and their labels, but a batch here has one label an image"));
  }
  asked.shape = asked.recipe->shape(dataset.info().shape);
  asked.options = translated(given, dataset);
  asked.over = given.epochs != 0 && given.start.epoch >= given.epochs;
  if (asked.over) asked.options.epochs = 1;
  const std::vector<double> mean = numbers("mean", given.mean, given.mean_count);
  const std::vector<double> deviation =
      numbers("deviation", given.deviation, given.deviation_count);
  if (asked.options.pixels.type == PixelType::u8 && !(mean.empty() && deviation.empty())) {
    misused("mean and deviation need FEEDRATE_PIXELS_F32 or FEEDRATE_PIXELS_F16");
  }
  asked.options.pixels.set_scales(mean, deviation, asked.shape.channels);
  asked.batches_per_epoch =
      loader::detail::Plan(asked.options, dataset.size(), asked.shape.bytes()).batches_per_epoch();
  return asked;
}

}  // namespace

Asked checked_options(const feedrate_loader_options* given, const Dataset& dataset) {
  try {
    return asked_of(completed(given), dataset);
  } catch (const Failure&) {
    throw;
  } catch (const Error& error) {  // every Error here is about an option
    misused(error.what());
  }
}

}  // namespace feedrate::tools

using namespace feedrate::tools;

feedrate_status feedrate_loader_options_init(feedrate_loader_options* options, size_t size) {
  return guarded([&] {
    expect_pointer(options, "options");
    expect_size(size, first_size<feedrate_loader_options>, "options");
    feedrate_loader_options all = defaults();
    all.size = size;
    std::memset(static_cast<void*>(options), 0, size);
    std::memcpy(static_cast<void*>(options), &all, std::min(size, sizeof all));
  });
}
