#include "trainer/schedules/schedule.h"

#include <utility>

namespace feedrate::trainer {
using namespace formats;

#define FEEDRATE_ROW(name) extern const Policy& name##_policy;
#include "trainer/schedules/list.inc"
#undef FEEDRATE_ROW

std::span<const Policy* const> policies() {
  static const Policy* const rows[] = {
#define FEEDRATE_ROW(name) &name##_policy,
#include "trainer/schedules/list.inc"
#undef FEEDRATE_ROW
  };
  return rows;
}

const Policy& policy(std::string_view name) { return find_kind("rate policy", name, policies()); }

LearningRate::LearningRate(Schedule schedule)
    : schedule_(std::move(schedule)), policy_(policy(schedule_.policy)) {
  const Policy::Rule& rule = policy_.rule();
  if (rule.positive != nullptr && schedule_.*rule.positive == 0) {
    throw Error(join("rate policy ", policy_.name(), ": needs ", rule.positive_name, " above 0"));
  }
}

double LearningRate::at(std::uint64_t step) const {
  const double rate = policy_.rule().rate(schedule_, step);
  if (step >= schedule_.warmup) return rate;
  return rate * static_cast<double>(step + 1) / static_cast<double>(schedule_.warmup);
}

}  // namespace feedrate::trainer
