#include "tools/lab/advise/turns.h"

#include "formats/base/cores.h"
#include "formats/base/stop.h"
#include "tools/lab/advise/hidden_cores.h"

namespace feedrate::tools {
using namespace loader;

std::vector<double> measure_in_turns(std::span<const Subject> subjects, const Recipe& recipe,
                                     const Turns& turns) {
  SupplyOptions fewest = turns.supply;
  fewest.loader.threads = 1;
  SupplyOptions most = turns.supply;
  most.loader.threads = turns.max_threads;
  std::vector<double> demands;
  for (unsigned round = 0; round < turns.rounds; ++round) {
    if (turns.begun) turns.begun(round);
    for (const Subject& subject : subjects) {
      formats::throw_if_stop_requested();
      add_slice(subject.variant->at_min, *subject.dataset, recipe, fewest);
      if (turns.max_threads > 1) add_slice(subject.variant->at_max, *subject.dataset, recipe, most);
    }
    if (turns.half != nullptr) {
      const HiddenCores hidden(formats::usable_cores() / 2);
      SupplyOptions few = turns.supply;
      few.loader.threads = hidden.seen();
      if (few.loader.threads > 0) add_slice(*turns.half, *subjects.front().dataset, recipe, few);
    }
    formats::throw_if_stop_requested();
    if (turns.demand) demands.push_back(turns.demand());
  }
  if (turns.max_threads <= 1) {
    for (const Subject& subject : subjects) subject.variant->at_max = subject.variant->at_min;
  }
  return demands;
}

}  // namespace feedrate::tools
