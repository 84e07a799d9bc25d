// feedrate._native.Settings: a loader's settings, read from keyword arguments by their table.

#include "tools/bindings/python/settings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/bindings/python/values.hpp"

namespace feedrate::tools {
using namespace formats;

namespace nb = nanobind;

namespace {

using loader::LoaderSettings;
using loader::LoaderState;
using loader::PixelLayout;
using loader::UnevenShares;

/// Visits the settings that are keyword arguments. A run starts where load_state_dict() says.
template <class All, class Visit>
void for_each_keyword(All& settings, const Visit& visit) {
  for_each_setting(settings, [&](const Setting& row, auto& value) {
    if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(value)>, loader::StartPlace>) {
      visit(typed(row, value), value);
    }
  });
}

LoaderSettings read(const nb::kwargs& given) {
  return read_keywords(given, LoaderSettings{},
                       [](auto& all, const auto& visit) { for_each_keyword(all, visit); });
}

/// Refuses a value of a setting that the caller knows by another name.
void expect(std::string_view setting, const nb::object& value, std::string_view name) {
  LoaderSettings settings;
  for_each_keyword(settings, [&](Setting row, auto& member) {
    if (row.name != setting) return;
    row.name = name;
    read_python(row, value, member);
  });
}

Settings set_up(OpenDataset dataset, std::shared_ptr<const loader::Picks> picks,
                std::shared_ptr<OwnLabels> labels, LoaderSettings asked) {
  loader::LoaderSetup setup = loader::set_up(asked, *dataset.data, picks.get(), Spelling::python);
  return {std::move(dataset), std::move(picks), std::move(labels), std::move(asked),
          std::move(setup)};
}

/// The same for the share of another rank.
Settings shared(const Settings& of, const nb::object& rank, const nb::object& ranks) {
  LoaderSettings asked = of.asked;
  read_python(row_of(asked, asked.rank), rank, asked.rank);
  read_python(row_of(asked, asked.ranks), ranks, asked.ranks);
  return set_up(of.dataset, of.picks, of.labels, std::move(asked));
}

/// Seed, epoch, position and the seed of draws of a state, checked.
std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::optional<std::uint64_t>> start(
    const Settings& of, const nb::dict& state) {
  LoaderState read;
  const auto take = [&](const Setting& row, auto& value) {
    const nb::str name = text(row.name);
    if (!state.contains(name)) {
      throw Error(join("it has no '", row.name, "'; expected seed, epoch and position"));
    }
    read_python(row, state[name], value);
  };
  about("state", [&] {
    take({.name = "seed"}, read.seed);
    take({.name = "epoch", .max = loader::max_start_epoch}, read.epoch);
    take({.name = "position"}, read.position);
    if (state.contains("draws")) take({.name = "draws"}, read.draws);
    expect_start(of.setup, read);
  });
  return {read.seed, read.epoch, read.position, read.draws};
}

/// (pixel - mean) / deviation: both by channel.
std::pair<std::vector<float>, std::vector<float>> scales(const Settings& of) {
  const loader::LoaderOptions::Pixels& pixels = of.setup.options.pixels;
  std::pair<std::vector<float>, std::vector<float>> found;
  for (std::size_t c = 0; c < of.setup.shape.channels; ++c) {
    found.first.push_back(pixels.scales[c].mean);
    found.second.push_back(pixels.deviations[c] != 0 ? pixels.deviations[c] : 1.0F);
  }
  return found;
}

nb::list rows() {
  nb::list all;
  const LoaderSettings defaults;
  for_each_keyword(defaults, [&](const Setting& row, const auto& usual) {
    all.append(described(row, python_value(row, usual)));
  });
  return all;
}

}  // namespace

void add_settings(nb::module_& module) {
  module.def("settings", &rows, nb::sig("def settings() -> list[dict[str, object]]"),
             "The settings of a loader: what is to be known of each.");
  module.def(
      "expect",
      [](const std::string& setting, const nb::object& value, const std::string& name) {
        checked([&] { expect(setting, value, name); });
      },
      nb::arg("setting"), nb::arg("value").none(), nb::arg("name"),
      "Refuses a value of a setting that the caller knows by another name.");
  module.def(
      "shuffles",
      [](const nb::kwargs& given) {
        return checked([&] { return loader::shuffles(read(given)); });
      },
      nb::arg("settings"), nb::sig("def shuffles(**settings: object) -> bool"),
      "Whether these settings shuffle what has no order of its own.");
  nb::class_<Settings>(module, "Settings", "The settings of a loader, checked.")
      .def(
          "__init__",
          [](Settings* self, const OpenDataset& dataset, const EpochPicks* picks,
             std::shared_ptr<OwnLabels> labels, std::optional<bool> repeats,
             const nb::kwargs& given) {
            new (self) Settings(checked([&] {
              LoaderSettings asked = read(given);
              if (repeats) asked.uneven = *repeats ? UnevenShares::repeat : UnevenShares::leave_out;
              asked.interleaved = repeats.has_value();
              if (picks != nullptr && picks->drawn) check_drawn(asked, Spelling::python);
              return set_up(dataset, picks != nullptr ? picks->picks : nullptr, std::move(labels),
                            asked);
            }));
          },
          nb::arg("dataset"), nb::arg("picks").none(), nb::arg("labels").none(),
          nb::arg("repeats").none(), nb::arg("settings"),
          nb::sig(
              "def __init__(self, dataset: Dataset, picks: Picks | None, labels: Labels | None, "
              "repeats: bool | None, **settings: object) -> None"))
      .def(
          "shared",
          [](const Settings& settings, const nb::object& rank, const nb::object& ranks) {
            return checked([&] { return shared(settings, rank, ranks); });
          },
          nb::arg("rank"), nb::arg("ranks"), "The same of another rank.")
      .def(
          "listing",
          [](const Settings& of, const EpochPicks& picks) {
            return checked([&] { return set_up(of.dataset, picks.picks, of.labels, of.asked); });
          },
          nb::arg("picks"), "The same of an epoch that holds these.")
      .def(
          "start",
          [](const Settings& settings, const nb::dict& state) {
            return checked([&] { return start(settings, state); });
          },
          nb::arg("state"),
          nb::sig("def start(self, state: dict[str, object]) -> tuple[int, int, int, int | None]"),
          "(seed, epoch, position, draws), checked.")
      .def(
          "expect_device_decodes",
          [](const Settings& of) {
            checked([&] {
              check_device_decodes(*of.dataset.data, *of.setup.recipe, Spelling::python);
            });
          },
          "Refuses what a device that decodes does not do.")
      .def_prop_ro("batches_per_epoch",
                   [](const Settings& settings) { return settings.setup.batches_per_epoch; })
      .def_prop_ro("epochs", [](const Settings& settings) { return settings.asked.epochs; })
      .def_prop_ro("seed", [](const Settings& settings) { return settings.asked.seed; })
      .def_prop_ro("epoch_size", [](const Settings& settings) { return settings.setup.epoch_size; })
      .def_prop_ro("shuffles",
                   [](const Settings& settings) { return settings.setup.options.order.shuffle; })
      .def_prop_ro(
          "trains", [](const Settings& settings) { return settings.setup.recipe->trains(); },
          "False where nothing is drawn for a sample.")
      .def_prop_ro("pixels",
                   [](const Settings& settings) { return text(name(settings.asked.pixels)); })
      .def_prop_ro(
          "mixes",
          [](const Settings& settings) { return !settings.setup.recipe->mixers().empty(); })
      .def_prop_ro(
          "means", [](const Settings& of) { return scales(of).first; },
          "What numbers subtract, by channel.")
      .def_prop_ro(
          "deviations", [](const Settings& of) { return scales(of).second; },
          "What numbers are divided by after that.")
      .def_prop_ro("planar",
                   [](const Settings& settings) {
                     return settings.setup.options.pixels.wanted_layout() == PixelLayout::planar;
                   })
      .def_prop_ro("image_shape", [](const Settings& settings) {
        const Shape shape = settings.setup.shape;
        return std::tuple(shape.height, shape.width, shape.channels);
      });
}

}  // namespace feedrate::tools
