#pragma once
// What `feedrate bench` can be asked to vary, once for its options and for the keys of its plans.

#include "formats/base/cores.h"
#include "loader/settings.h"
#include "tools/console/decode.h"
#include "tools/lab/bench/peer.h"
#include "tools/lab/bench/plan.h"
#include "trainer/settings.h"

namespace feedrate::tools {

inline constexpr std::string_view cache_words[] = {warm_cache, cold_cache};

/// Calls visit(key, row, list) for every list: the key is the plan's, the row that of a value.
template <class Options, class Visit>
void for_each_list(Options& of, const Visit& visit) {
  const loader::LoaderSettings loader;
  const trainer::DeviceSettings device;
  formats::Setting threads = formats::row_of(loader, loader.threads);
  threads.sentence = "Numbers of loader threads to try";
  threads.detail = "0: load in the trainer's own thread.";
  threads.nothing = "";
  formats::Setting network = trainer::network_row;
  network.sentence = "Networks to train (default: measure supply alone)";
  formats::Setting decode = decode_row;
  decode.sentence = "Ways to decode JPEGs: full, scaled or device";
  visit("threads", threads, of.threads);
  visit("networks", network, of.networks);
  visit("tools",
        {.name = "tool",
         .unit = "NAME",
         .sentence = "Tools to measure",
         .detail = "feedrate, pytorch, pytorch+feedrate, tensorflow, mxnet.",
         .words = bench_tools()},
        of.tools);
  visit("batches", loader::batch_row, of.batches);
  visit("recipes", loader::recipe_row, of.recipes);
  visit("decodes", decode, of.decodes);
  visit("caches",
        {.name = "cache",
         .unit = "NAME",
         .sentence = "Page cache at the start: warm or cold",
         .words = cache_words},
        of.caches);
  formats::Setting trained_on = formats::row_of(device, device.name);
  trained_on.sentence = "Devices that train (default: cpu; with --emulate, none)";
  visit("devices", trained_on, of.devices);
  visit("emulated",
        {.name = "emulate",
         .unit = "NAME|RATE",
         .sentence = "Trainers to emulate: h100, h100x8 … or images/s"},
        of.emulated);
  visit("precisions", formats::row_of(device, device.precision), of.precisions);
}

/// Of the settings that are no lists.
template <class Options, class Visit>
requires std::is_same_v<std::remove_const_t<Options>, BenchOptions>
void for_each_setting(Options& of, const Visit& visit) {
  const trainer::DeviceSettings device;
  visit({.name = "repeat",
         .unit = "N",
         .sentence = "Repeats of each combination",
         .min = 1,
         .max = 1000},
        of.repeat);
  visit({.name = "seconds",
         .unit = "S",
         .sentence = "Length of each repeat",
         .range = formats::above_zero},
        of.seconds);
  visit({.name = "decide",
         .unit = "S",
         .sentence = "Extra time until the verdict is clear",
         .detail = "Measures further repeats while it is unclear which formats are slower or what "
                   "the limit is.",
         .range = formats::zero_or_more},
        of.decide);
  visit({.name = "host_cores",
         .unit = "CORES",
         .sentence = "Cores that each emulated device keeps busy",
         .range = {.low = 0, .high = max_host_cores}},
        of.host_cores);
  visit(formats::row_of(device, device.compute_threads), of.compute_threads);
  visit({.name = "cores",
         .unit = "N",
         .sentence = "Cores to run on, physical ones first; 0: all",
         .max = formats::max_threads},
        of.cores);
  visit(loader::seed_row, of.seed);
  const loader::LoaderSettings loader;
  visit(formats::row_of(loader, loader.shuffle_blocks), of.shuffle_blocks);
  for_each_setting(of.remote, visit);
}

}  // namespace feedrate::tools
