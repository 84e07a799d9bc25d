// feedrate._native.Settings: a loader's options.

#include "tools/bindings/python/settings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loader/engine/plan.h"

namespace feedrate::tools {
using namespace formats;

namespace nb = nanobind;

namespace {

using loader::DecodedSize;
using loader::LoaderOptions;
using loader::PixelLayout;
using loader::PixelType;

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
}

}  // namespace feedrate::tools
