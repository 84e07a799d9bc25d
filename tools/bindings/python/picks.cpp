// feedrate._native.Picks and what makes them, and mixes of datasets.

#include "loader/order/picks.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/error.h"
#include "loader/labels.h"
#include "loader/order/joined.h"
#include "loader/settings.h"
#include "tools/bindings/python/native.hpp"
#include "tools/bindings/python/values.hpp"

namespace feedrate::tools {
using namespace formats;

namespace nb = nanobind;

namespace {

// What an epoch holds is not in the table of settings, since the shell reads it from files.
constexpr Setting groups_row{.name = "groups", .min = 1, .max = loader::max_batch};
constexpr Setting weights_row{.name = "weights"};

EpochPicks listed(const OpenDataset& dataset, const nb::object& order) {
  return checked([&] {
    const std::uint64_t samples = dataset.data->size();
    std::vector<std::uint64_t> indices;
    read_python({.name = "order", .max = samples - 1}, order, indices);
    return EpochPicks{loader::listed(std::move(indices), samples)};
  });
}

// None: as many as the dataset has samples.
std::uint64_t read_draws(const OpenDataset& dataset, const nb::object& draws) {
  std::optional<std::uint64_t> read;
  read_python(loader::draws_row, draws, read);
  return read.value_or(dataset.data->size());
}

/// All samples' labels; `tolerant`: a sample without one is left out.
loader::Labels labels_of(const OpenDataset& dataset, bool tolerant) {
  constexpr std::uint64_t any =
      std::numeric_limits<std::uint64_t>::max();  // the loader has a budget
  return loader::labels_of(*dataset.data,
                           tolerant ? loader::BadPolicy::skip : loader::BadPolicy::fail, any);
}

EpochPicks weighted(const OpenDataset& dataset, const nb::object& weights, const nb::object& draws,
                    bool tolerant) {
  std::vector<double> read;
  const bool balanced = nb::isinstance<nb::str>(weights);
  const std::uint64_t drawn = checked([&] {
    if (!balanced) read_python(weights_row, weights, read);
    if (balanced && utf8(weights) != "balanced") {
      throw Error(join("weights: expected numbers or 'balanced', found ", shown(weights)));
    }
    return read_draws(dataset, draws);
  });
  const OthersRun others_run;
  // Reads the dataset, so that what it throws is not about an option.
  std::string note;
  if (balanced) {
    const loader::Labels labels = labels_of(dataset, tolerant);
    read = loader::balancing_weights(labels.of_samples);
    note = labels.note();
  }
  return checked([&] {
    if (read.size() != dataset.data->size()) {
      throw Error(join("weights: found ", read.size(), ", expected one for each of the ",
                       dataset.data->size(), " samples"));
    }
    return EpochPicks{loader::weighted(read, drawn), true, note};
  });
}

EpochPicks grouped(const OpenDataset& dataset, const nb::object& groups, bool tolerant) {
  std::vector<std::uint64_t> read;
  checked([&] {
    read_python(groups_row, groups, read);
    if (read.size() != 2) {
      throw Error(join("groups: expected two numbers, of classes and of samples of each, found ",
                       shown(groups)));
    }
  });
  const OthersRun others_run;
  const loader::Labels labels = labels_of(dataset, tolerant);
  return checked([&] {
    return EpochPicks{
        loader::grouped_by_class(labels.of_samples, static_cast<std::uint32_t>(read[0]),
                                 static_cast<std::uint32_t>(read[1])),
        true, labels.note()};
  });
}

EpochPicks mixed(const OpenDataset& dataset, const nb::object& draws, bool shuffle) {
  return checked([&] {
    return EpochPicks{loader::mixed(dataset.members, read_draws(dataset, draws), shuffle)};
  });
}

OpenDataset mix(const std::vector<OpenDataset>& datasets,
                const nb::typed<nb::list, nb::object>& given) {
  return checked([&] {
    std::vector<double> weights;
    read_python({.name = "datasets"}, given, weights);
    std::vector<std::shared_ptr<const Dataset>> all;
    OpenDataset made;
    for (std::size_t i = 0; i < datasets.size(); ++i) {
      all.push_back(datasets[i].data);
      made.members.push_back({datasets[i].data->size(), weights.at(i)});
    }
    made.data = std::make_shared<loader::Joined>(std::move(all));
    loader::mixed(made.members, made.data->size(), true);  // refuses weights that make no sense
    return made;
  });
}

}  // namespace

void add_picks(nb::module_& module) {
  nb::class_<EpochPicks>(module, "Picks", "What an epoch holds.")
      .def_ro("note", &EpochPicks::note, "Of samples that are left out; empty where none are.");
  module.def("listed", &listed, nb::arg("dataset"), nb::arg("order"));
  module.def("weighted", &weighted, nb::arg("dataset"), nb::arg("weights"), nb::arg("draws").none(),
             nb::arg("tolerant"));
  module.def("grouped", &grouped, nb::arg("dataset"), nb::arg("groups"), nb::arg("tolerant"));
  module.def("mixed", &mixed, nb::arg("dataset"), nb::arg("draws").none(), nb::arg("shuffle"));
  module.def("mix", &mix, nb::arg("datasets"), nb::arg("weights"));
}

}  // namespace feedrate::tools
