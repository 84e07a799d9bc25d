#include "loader/settings.h"

#include <algorithm>

#include "formats/base/text.h"
#include "loader/engine/batch_plan.h"

namespace feedrate::loader {
using namespace formats;

namespace {

/// Does `work`; its errors begin with `what`.
template <class Work>
void about(std::string_view what, const Work& work) {
  try {
    work();
  } catch (const Error& problem) {
    throw Error(join(what, ": ", problem.what()));
  }
}

/// Whether they are of pixels from 0 to 1, as torchvision has them.
bool of_unit_pixels(const std::vector<double>& values) {
  const auto fraction = [](double value) { return value > 0 && value < 1; };
  return std::ranges::any_of(values, fraction) && std::ranges::max(values) <= 1;
}

}  // namespace

void read_value(const Setting&, std::string_view text, StartPlace& place) {
  const std::size_t colon = text.find(':');
  const auto epoch = parse_number<std::uint64_t>(text.substr(0, colon));
  const auto position = colon == std::string_view::npos
                            ? std::uint64_t{0}
                            : parse_number<std::uint64_t>(text.substr(colon + 1));
  if (!epoch || !position) {
    throw Error(join("expected EPOCH or EPOCH:IMAGES, found '", text, "'"));
  }
  place = {*epoch, *position};
}

std::string value_text(const Setting&, const StartPlace& place) {
  return place == StartPlace{} ? "" : join(place.epoch, ":", place.position);
}

void check(const LoaderSettings& settings, Spelling by) {
  expect_values(settings, by);
  const auto row = [&](const auto& member) { return row_of(settings, member); };
  if (settings.pixels == PixelType::u8 && settings.mean.size() + settings.deviation.size() > 0) {
    throw Error(join(spelled(mean_row, by), " and ", spelled(deviation_row, by), " need ",
                     spelled(row(settings.pixels), {"f32", "f16"}, by)));
  }
  std::vector<double> scales = settings.mean;
  scales.insert(scales.end(), settings.deviation.begin(), settings.deviation.end());
  if (of_unit_pixels(scales)) {
    throw Error(join(spelled(mean_row, by), " and ", spelled(deviation_row, by),
                     " are of pixels from 0 to 255: multiply those of pixels from 0 to 1 by 255, "
                     "as in 123.675 for 0.485"));
  }
  about(spelled(row(settings.rank), by), [&] {
    LoaderOptions::Share{settings.rank, settings.ranks}.check();
  });
  if (settings.decode == DecodedSize::scaled) {
    about(spelled(row(settings.decode), {name(settings.decode)}, by),
          [&] { expect_shrinks(recipe(settings.recipe)); });
  }
}

LoaderSetup set_up(const LoaderSettings& settings, const Dataset& dataset, const Picks* picks,
                   Spelling by) {
  check(settings, by);
  LoaderSetup setup;
  setup.recipe = &recipe(settings.recipe);
  setup.shape = setup.recipe->shape(dataset.info().shape);
  setup.epoch_size = picks != nullptr ? picks->size() : dataset.size();
  LoaderOptions& options = setup.options;
  options.batch = settings.batch;
  options.threads = settings.threads.value_or(loader_cores(settings.consumer_computes));
  options.engine.tune = !settings.threads;
  options.engine.max_threads = options.threads;
  options.engine.io_threads = settings.io_threads;
  options.engine.crop_index = settings.crop_index;
  options.pixels.type = settings.pixels;
  options.pixels.layout = settings.layout;
  options.pixels.set_scales(settings.mean, settings.deviation, setup.shape.channels);
  options.decoded = settings.decode;
  check_decoded(dataset, *setup.recipe, options.decoded);
  options.epochs = settings.epochs.value_or(0);
  options.start = {settings.seed, settings.start.epoch, settings.start.position};
  const bool ordered = picks != nullptr && !picks->needs_shuffle();
  options.order = {.shuffle = settings.shuffle.value_or(!ordered),
                   .window = settings.window,
                   .last = settings.last,
                   .picks = picks};
  options.share = {settings.rank, settings.ranks};
  options.bad = {settings.on_bad, settings.bad_budget};
  setup.batches_per_epoch =
      detail::Plan(options, setup.epoch_size, setup.shape.bytes()).batches_per_epoch();
  return setup;
}

void expect_start(const LoaderSetup& setup, const LoaderState& start) {
  LoaderOptions options = setup.options;
  options.start = start;
  detail::Plan(options, setup.epoch_size, setup.shape.bytes());
}

}  // namespace feedrate::loader
