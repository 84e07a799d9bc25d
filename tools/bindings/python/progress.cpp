// feedrate._native.Progress

#include "tools/bindings/python/progress.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <mutex>
#include <tuple>

#include "tools/bindings/python/native.hpp"

namespace feedrate::tools {

namespace nb = nanobind;

using loader::LoaderState;

LoaderState Progress::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void Progress::go_to(LoaderState state) {
  const std::lock_guard lock(mutex_);
  end_turn();
  state_ = state;
}

Progress::Turn Progress::begin() {
  const std::lock_guard lock(mutex_);
  end_turn();
  return {turn_, state_};
}

void Progress::end_turn() {
  ++turn_;
  on_their_way_.clear();
  first_on_its_way_ = 0;
}

bool Progress::lasts(std::uint64_t turn) const {
  const std::lock_guard lock(mutex_);
  return turn == turn_;
}

Progress::Taken Progress::take(std::uint64_t turn, LoaderState behind) {
  const std::lock_guard lock(mutex_);
  if (turn != turn_) return {turn};  // which hand_out() will refuse
  on_their_way_.push_back({behind});
  return {turn, first_on_its_way_ + on_their_way_.size() - 1};
}

bool Progress::hand_out(Taken batch) {
  const std::lock_guard lock(mutex_);
  if (batch.turn != turn_) return false;
  if (batch.number < first_on_its_way_) return true;  // it was, already
  on_their_way_[batch.number - first_on_its_way_].handed_out = true;
  while (!on_their_way_.empty() && on_their_way_.front().handed_out) {
    state_ = on_their_way_.front().behind;
    on_their_way_.pop_front();
    ++first_on_its_way_;
  }
  return true;
}

void add_progress(nb::module_& module) {
  nb::class_<Progress::Taken>(module, "Taken", "A batch on its way to its receiver.");
  nb::class_<Progress>(module, "Progress", "How far a loader has come.")
      .def(
          "__init__",
          [](Progress* self, std::uint64_t seed) { new (self) Progress({.seed = seed}); },
          nb::arg("seed"))
      .def_prop_ro(
          "state",
          [](const Progress& progress) {
            const LoaderState state = progress.state();
            return std::tuple(state.seed, state.epoch, state.position, state.draws);
          },
          "seed, epoch, position, draws")
      .def(
          "go_to",
          [](Progress& progress, std::uint64_t seed, std::uint64_t epoch, std::uint64_t position,
             std::optional<std::uint64_t> draws) {
            progress.go_to({seed, epoch, position, draws});
          },
          nb::arg("seed"), nb::arg("epoch"), nb::arg("position"), nb::arg("draws").none())
      .def("end_turn", [](Progress& progress) { progress.begin(); });
}

}  // namespace feedrate::tools
