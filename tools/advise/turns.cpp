#include "tools/advise/turns.h"

namespace feedrate::tools {
using namespace loader;

std::vector<double> measure_in_turns(std::span<const Subject> subjects, const Recipe& recipe,
                                     const Turns& turns) {
  SupplyOptions one = turns.supply;
  one.threads = 1;
  SupplyOptions most = turns.supply;
  most.threads = turns.max_threads;
  std::vector<double> demands;
  for (unsigned round = 0; round < turns.rounds; ++round) {
    if (turns.begun) turns.begun(round);
    for (const Subject& subject : subjects) {
      add_slice(subject.way->one, *subject.dataset, recipe, one);
      if (most.threads > 1) add_slice(subject.way->most, *subject.dataset, recipe, most);
    }
    if (turns.demand) demands.push_back(turns.demand());
  }
  if (most.threads <= 1) {
    for (const Subject& subject : subjects) subject.way->most = subject.way->one;
  }
  return demands;
}

}  // namespace feedrate::tools
