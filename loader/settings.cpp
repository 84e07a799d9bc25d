#include "loader/settings.h"

#include <algorithm>

#include "formats/base/text.h"
#include "formats/codec.h"
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

/// "--mean needs", or "--mean and --deviation need", each only where it is given.
std::string given_scales(const std::vector<double>& mean, const std::vector<double>& deviation,
                         Spelling by, std::string_view one, std::string_view both) {
  if (deviation.empty()) return join(spelled(mean_row, by), " ", one);
  if (mean.empty()) return join(spelled(deviation_row, by), " ", one);
  return join(spelled(mean_row, by), " and ", spelled(deviation_row, by), " ", both);
}

void expect_epoch(std::uint64_t epoch) {
  if (epoch <= max_start_epoch) return;
  throw Error(join("expected an epoch from 0 to ", max_start_epoch, ", found ", epoch));
}

/// "--no-shuffle"
std::string unshuffled(const Setting& row, Spelling by) {
  switch (by) {
    case Spelling::python:
      return join(row.name, "=False");
    case Spelling::c:
      return join(row.name, " = 0");
    case Spelling::json:
      return join(spelled(row, by), ": false");
    case Spelling::shell:
      break;
  }
  return spelled(row, by);
}

/// Of one dataset, not of a mix.
void check_member(const DatasetInfo& info, const Recipe& recipe, Spelling by) {
  const auto spelled_as = [&](std::string_view word) {
    const LoaderSettings settings;
    return spelled(row_of(settings, settings.decode), {word}, by);
  };
  if (info.codec != packed_codec.name()) {
    throw Error(join(shown_path(info.path), ": holds ", info.codec, ", but ",
                     spelled_as(device_word), " is for packed JPEGs: 'feedrate convert dataset ",
                     shown_path(info.path), " --encode packed …' makes them"));
  }
  if (recipe.makes_grey() && info.shape.channels != 1) {
    throw Error(join("recipe ", recipe.name(), " makes colours grey, so the loader's threads must ",
                     "decode: ", spelled_as(name(DecodedSize::full))));
  }
}

/// The plan of a loader. Its errors name the setting as the caller does.
detail::Plan plan_of(const LoaderSetup& setup, const LoaderSettings& settings, Spelling by) {
  try {
    return {setup.options, setup.epoch_size, setup.shape.bytes()};
  } catch (const detail::Unsuited& problem) {
    std::string name(problem.setting());
    for_each_setting(settings, [&](const Setting& row, const auto&) {
      if (row.name == problem.setting()) name = spelled(row, by);
    });
    throw Error(join(name, ": ", problem.problem()));
  }
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
  expect_epoch(*epoch);
  place = {*epoch, *position};
}

std::string value_text(const Setting&, const StartPlace& place) {
  return place == StartPlace{} ? "" : join(place.epoch, ":", place.position);
}

void check(const LoaderSettings& settings, Spelling by) {
  expect_values(settings, by);
  const auto row = [&](const auto& member) { return row_of(settings, member); };
  if (settings.pixels == PixelType::u8 && settings.mean.size() + settings.deviation.size() > 0) {
    throw Error(join(given_scales(settings.mean, settings.deviation, by, "needs", "need"), " ",
                     spelled(row(settings.pixels), {"f32", "f16"}, by)));
  }
  check_scales(settings.mean, settings.deviation, by);
  const auto refuse_unshuffled = [&](const std::uint64_t& member) {
    if (member == 0 || settings.shuffle != false) return;
    throw Error(join(spelled(row(member), by), " is for shuffling, not for ",
                     unshuffled(row(settings.shuffle), by)));
  };
  refuse_unshuffled(settings.window);
  refuse_unshuffled(settings.shuffle_blocks);
  about(spelled(row(settings.start), by), [&] { expect_epoch(settings.start.epoch); });
  about(spelled(row(settings.rank), by), [&] {
    LoaderOptions::Share{settings.rank, settings.ranks}.check();
  });
  if (settings.decode == DecodedSize::scaled) {
    about(spelled(row(settings.decode), {name(settings.decode)}, by),
          [&] { expect_shrinks(recipe(settings.recipe)); });
  }
}

void check_scales(const std::vector<double>& mean, const std::vector<double>& deviation,
                  Spelling by) {
  std::vector<double> scales = mean;
  scales.insert(scales.end(), deviation.begin(), deviation.end());
  if (!of_unit_pixels(scales)) return;
  throw Error(join(given_scales(mean, deviation, by, "is", "are"),
                   " of pixels from 0 to 255: multiply those of pixels from 0 to 1 by 255, "
                   "as in 123.675 for 0.485"));
}

void check_picked(const LoaderSettings& settings, Spelling by) {
  if (settings.window == 0 && settings.shuffle_blocks == 0) return;
  const std::uint64_t& given = settings.window != 0 ? settings.window : settings.shuffle_blocks;
  throw Error(join(spelled(row_of(settings, given), by),
                   " is for the order of one dataset, not for a list, weights, groups or a mix"));
}

void check_drawn(const LoaderSettings& settings, Spelling by) {
  if (settings.shuffle != false) return;
  throw Error(join(unshuffled(row_of(settings, settings.shuffle), by),
                   " is not for weights or groups, which draw samples"));
}

void check_device_decodes(const Recipe& recipe, Spelling by) {
  if (!works_on_pixels(recipe)) return;
  const LoaderSettings settings;
  throw Error(join("recipe ", recipe.name(),
                   " works on pixels, so the loader's threads must decode: ",
                   spelled(row_of(settings, settings.decode), {name(DecodedSize::full)}, by)));
}

void check_device_decodes(const Dataset& dataset, const Recipe& recipe, Spelling by) {
  check_device_decodes(recipe, by);
  // Member by member: a mix has no path to be converted from.
  for (std::uint64_t at = 0; at < dataset.size();) {
    const LocatedSample found = dataset.locate(at);
    check_member(found.dataset.info(), recipe, by);
    at += found.dataset.size() - found.index;
  }
}

bool shuffles(const LoaderSettings& settings) {
  return settings.shuffle.value_or(settings.window != 0 || settings.shuffle_blocks != 0 ||
                                   recipe(settings.recipe).trains());
}

LoaderSetup set_up(const LoaderSettings& settings, const Dataset& dataset, const Picks* picks,
                   Spelling by) {
  check(settings, by);
  if (picks != nullptr) check_picked(settings, by);
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
  const std::uint32_t channels = setup.shape.channels;
  about(spelled(mean_row, by), [&] { options.pixels.set_scales(settings.mean, {}, channels); });
  about(spelled(deviation_row, by),
        [&] { options.pixels.set_scales(settings.mean, settings.deviation, channels); });
  options.decoded = settings.decode;
  check_decoded(dataset, *setup.recipe, options.decoded);
  setup.over = settings.epochs && settings.start.epoch >= *settings.epochs;
  options.epochs = settings.epochs && !setup.over ? *settings.epochs - settings.start.epoch : 0;
  options.start = {settings.seed, settings.start.epoch, settings.start.position};
  const bool ordered = picks != nullptr && !picks->needs_shuffle();
  options.order = {.shuffle = ordered ? settings.shuffle.value_or(false) : shuffles(settings),
                   .window = settings.window,
                   .block = settings.shuffle_blocks,
                   .last = settings.last,
                   .picks = picks};
  options.share = {.rank = settings.rank,
                   .ranks = settings.ranks,
                   .uneven = settings.uneven,
                   .interleaved = settings.interleaved};
  options.bad = {settings.on_bad, settings.bad_budget};
  setup.batches_per_epoch = plan_of(setup, settings, by).batches_per_epoch();
  return setup;
}

void expect_start(const LoaderSetup& setup, const LoaderState& start) {
  expect_epoch(start.epoch);
  LoaderOptions options = setup.options;
  options.start = start;
  try {
    detail::Plan(options, setup.epoch_size, setup.shape.bytes());
  } catch (const detail::Unsuited& problem) {
    if (problem.setting() != "start") throw;
    throw Error(std::string(problem.problem()));  // the caller may call the start otherwise
  }
}

}  // namespace feedrate::loader
