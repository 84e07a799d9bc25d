// feedrate._native.Picks and what makes them, and mixes of datasets.

#include "loader/order/picks.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>
#include <vector>

#include "formats/base/error.h"
#include "loader/order/joined.h"
#include "tools/bindings/python/native.hpp"

namespace feedrate::tools {
using namespace formats;

namespace nb = nanobind;

namespace {

EpochPicks listed(const OpenDataset& dataset, std::vector<std::uint64_t> indices) {
  return checked(
      [&] { return EpochPicks{loader::listed(std::move(indices), dataset.data->size())}; });
}

EpochPicks weighted(const OpenDataset& dataset, std::optional<std::vector<double>> weights,
                    std::uint64_t draws) {
  const OthersRun others_run;
  // Reads the dataset, so that what it throws is not about an option.
  if (!weights) weights = loader::balancing_weights(loader::labels_of(*dataset.data));
  return checked([&] {
    if (weights->size() != dataset.data->size()) {
      throw Error(join("weights: found ", weights->size(), ", expected one for each of the ",
                       dataset.data->size(), " samples"));
    }
    return EpochPicks{loader::weighted(*weights, draws != 0 ? draws : dataset.data->size())};
  });
}

EpochPicks grouped(const OpenDataset& dataset, std::uint32_t classes, std::uint32_t each) {
  const OthersRun others_run;
  const std::vector<std::int32_t> labels = loader::labels_of(*dataset.data);
  return checked([&] { return EpochPicks{loader::grouped_by_class(labels, classes, each)}; });
}

EpochPicks mixed(const OpenDataset& dataset, std::uint64_t draws, bool shuffle) {
  return checked([&] {
    return EpochPicks{
        loader::mixed(dataset.parts, draws != 0 ? draws : dataset.data->size(), shuffle)};
  });
}

OpenDataset mix(const std::vector<OpenDataset>& datasets, const std::vector<double>& weights) {
  return checked([&] {
    std::vector<std::shared_ptr<const Dataset>> all;
    OpenDataset made;
    for (std::size_t i = 0; i < datasets.size(); ++i) {
      all.push_back(datasets[i].data);
      made.parts.push_back({datasets[i].data->size(), weights.at(i)});
    }
    made.data = std::make_shared<loader::Joined>(std::move(all));
    loader::mixed(made.parts, made.data->size(), true);  // refuses weights that make no sense
    return made;
  });
}

}  // namespace

void add_picks(nb::module_& module) {
  nb::class_<EpochPicks>(module, "Picks", "What an epoch holds.")
      .def_prop_ro("size", [](const EpochPicks& picks) { return picks.picks->size(); })
      .def_prop_ro("needs_shuffle",
                   [](const EpochPicks& picks) { return picks.picks->needs_shuffle(); });
  module.def("listed", &listed, nb::arg("dataset"), nb::arg("indices"));
  module.def("weighted", &weighted, nb::arg("dataset"), nb::arg("weights").none(),
             nb::arg("draws"));
  module.def("grouped", &grouped, nb::arg("dataset"), nb::arg("classes"), nb::arg("each"));
  module.def("mixed", &mixed, nb::arg("dataset"), nb::arg("draws"), nb::arg("shuffle"));
  module.def("mix", &mix, nb::arg("datasets"), nb::arg("weights"));
}

}  // namespace feedrate::tools
