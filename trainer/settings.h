#pragma once
// What users set about a training, wherever they do so: TrainSettings and DeviceSettings hold the
// values, for_each_setting() the rest about each of them, as loader/settings.h does for loaders.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "formats/base/cores.h"
#include "formats/base/setting.h"
#include "loader/settings.h"
#include "trainer/backends/backend.h"
#include "trainer/graph/changes.h"
#include "trainer/loop/train_recipe.h"
#include "trainer/networks/network.h"
#include "trainer/presets/preset.h"
#include "trainer/schedules/schedule.h"

namespace feedrate::trainer {

/// What a network does with a dataset.
enum class Mode : std::uint8_t {
  train,
  infer,     // forward only
  features,  // forward up to the last pooling layer, whose values are kept
};
inline constexpr std::string_view mode_words[] = {"train", "infer", "features"};
constexpr std::string_view name(Mode mode) { return mode_words[static_cast<std::size_t>(mode)]; }
inline constexpr formats::Setting mode_row{
    .name = "mode",
    .unit = "HOW",
    .sentence = "Train, or run forward only: infer, features",
    .detail =
        "infer reports the time for 1,000 images. features stops at the last pooling layer, whose "
        "values --out stores. Both read the dataset in order, with the weights of --resume, or "
        "with random ones, which suffice to measure time.",
    .words = mode_words};

inline constexpr formats::Setting network_row{
    .name = "network",
    .unit = "NAME",
    .sentence = "Network to train ('feedrate list networks')",
    .names = [] { return formats::kind_names(networks()); },
    .check = [](std::string_view text) { network(text); },
    .list = "networks"};
inline constexpr formats::Setting preset_row{
    .name = "preset",
    .unit = "NAME",
    .sentence = "Complete training settings ('feedrate list presets')",
    .names = [] { return formats::kind_names(presets()); },
    .check = [](std::string_view text) { preset(text); },
    .list = "presets"};

/// The device that computes, and how.
struct DeviceSettings {
  std::string name = "cpu";
  std::string precision = "fp32";
  /// Of a CPU; 0: every core. Loader threads rest while batches lie ready, so sharing the cores
  /// with them costs less than leaving them a core of their own; and what is learned does not
  /// depend on the number of loader threads.
  unsigned compute_threads = 0;
};

template <class Settings, class Visit>
requires std::is_same_v<std::remove_const_t<Settings>, DeviceSettings>
void for_each_setting(Settings& of, const Visit& visit) {
  visit({.name = "device",
         .unit = "NAME",
         .sentence = "Device ('feedrate list devices')",
         .names = [] { return formats::kind_names(backends()); },
         .check = [](std::string_view text) { backend(text); },
         .list = "devices"},
        of.name);
  visit({.name = "precision",
         .unit = "NAME",
         .sentence = "fp32, tf32, bf16 or fp16",
         .detail = "On the CPU, layers that bf16 would slow down stay in fp32.",
         .words = known_precisions},
        of.precision);
  visit({.name = "compute_threads",
         .unit = "N",
         .sentence = "Threads of a CPU trainer; 0: one per core",
         .max = formats::max_threads},
        of.compute_threads);
}

/// Replaces parts of a published recipe. What has no value stays.
struct TrainSettings {
  std::optional<std::uint32_t> batch{};  // of all ranks
  std::optional<std::string> optimizer{};
  std::optional<double> lr{};
  std::optional<double> momentum{};
  std::optional<double> decay{};
  std::optional<double> beta2{};
  std::optional<double> epsilon{};
  std::optional<double> trust{};
  std::optional<std::string> schedule{};
  std::optional<double> warmup{};
  std::optional<double> label_smoothing{};
  std::optional<std::string> init{};
  std::vector<double> mean{};
  std::vector<double> deviation{};
  bool zero_gamma = false;
};

template <class Settings, class Visit>
requires std::is_same_v<std::remove_const_t<Settings>, TrainSettings>
void for_each_setting(Settings& of, const Visit& visit) {
  using namespace formats;
  visit(loader::batch_row, of.batch);
  visit({.name = "optimizer",
         .unit = "NAME",
         .sentence = "Optimizer ('feedrate list optimizers')",
         .detail = "Another optimizer than the preset's starts from its own defaults.",
         .names = [] { return kind_names(optimizers()); },
         .check = [](std::string_view text) { optimizer(text); },
         .list = "optimizers"},
        of.optimizer);
  visit({.name = "lr", .unit = "R", .sentence = "Base learning rate", .range = zero_or_more},
        of.lr);
  visit(
      {.name = "momentum", .unit = "M", .sentence = "Momentum (Adam's beta1)", .range = below_one},
      of.momentum);
  visit({.name = "decay", .unit = "D", .sentence = "Weight decay", .range = zero_or_more},
        of.decay);
  visit({.name = "beta2",
         .unit = "B",
         .sentence = "Adam's beta2, RMSprop's alpha",
         .range = below_one},
        of.beta2);
  visit({.name = "epsilon",
         .unit = "E",
         .sentence = "Epsilon of Adam and RMSprop",
         .range = zero_or_more},
        of.epsilon);
  visit(
      {.name = "trust", .unit = "T", .sentence = "LARS' trust coefficient", .range = zero_or_more},
      of.trust);
  visit({.name = "schedule",
         .unit = "NAME",
         .sentence = "Learning-rate schedule: fixed, cosine or the preset's own",
         .names = [] { return kind_names(policies()); },
         .check = [](std::string_view text) { policy(text); }},
        of.schedule);
  visit({.name = "warmup",
         .unit = "E",
         .sentence = "Epochs of learning-rate warm-up",
         .range = zero_or_more},
        of.warmup);
  visit({.name = "label_smoothing",
         .unit = "S",
         .sentence = "Share of each label spread over all classes",
         .range = below_one},
        of.label_smoothing);
  visit({.name = "init",
         .unit = "NAME",
         .sentence = "Initial weights: xavier, glorot, he or he-fan-out",
         .words = init_words},
        of.init);
  visit(loader::mean_row, of.mean);
  visit(loader::deviation_row, of.deviation);
  visit({.name = "zero_gamma", .sentence = "Initialise residual branches to zero"}, of.zero_gamma);
}

/// The recipe with these changes. An optimizer that is not the recipe's starts from its own
/// defaults. Refers to the strings of `settings`. Throws Error, which names settings as the caller
/// does, for values out of range and for a schedule whose numbers only another recipe has.
TrainRecipe changed(TrainRecipe recipe, const TrainSettings& settings, formats::Spelling by);

/// The settings that say what the recipe says; where it leaves a default, they do.
TrainSettings settings_of(const TrainRecipe& recipe);

}  // namespace feedrate::trainer
