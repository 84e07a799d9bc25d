#include "tools/program/cluster/place.h"

#include <array>

#include "formats/base/error.h"
#include "formats/base/text.h"

namespace feedrate::tools {
using namespace formats;

namespace {

struct Launcher {
  const char* rank;   // 0 … ranks - 1
  const char* ranks;  // how many
};

// A launcher may have been started by one of the later ones, whose variables it leaves: the
// innermost first. Slurm sets SLURM_PROCID for a batch script, too, which is not one of several;
// only srun makes a step.
constexpr std::array launchers = {Launcher{"RANK", "WORLD_SIZE"},  // torchrun and its like
                                  Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                  Launcher{"PMI_RANK", "PMI_SIZE"},
                                  Launcher{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

std::uint32_t number_in(const Lookup& environment, const char* name) {
  const char* text = environment(name);
  const auto number = text == nullptr ? std::nullopt : parse_number<std::uint32_t>(text);
  if (number) return *number;
  throw Error(join(name, " is '", text == nullptr ? "" : text, "', expected a whole number"));
}

std::optional<Place> place_in_array(const Lookup& environment) {
  if (environment("SLURM_ARRAY_TASK_ID") == nullptr) return std::nullopt;
  const std::uint32_t id = number_in(environment, "SLURM_ARRAY_TASK_ID");
  const std::uint32_t min = number_in(environment, "SLURM_ARRAY_TASK_MIN");
  const std::uint32_t max = number_in(environment, "SLURM_ARRAY_TASK_MAX");
  const std::uint32_t tasks = number_in(environment, "SLURM_ARRAY_TASK_COUNT");
  const std::uint32_t step = environment("SLURM_ARRAY_TASK_STEP") != nullptr
                                 ? number_in(environment, "SLURM_ARRAY_TASK_STEP")
                                 : 1;
  if (step == 0 || id < min || id > max) {
    throw Error(join("SLURM_ARRAY_TASK_ID is ", id, ", expected ", min, " to ", max,
                     " in steps of ", step));
  }
  const std::uint32_t count = (max - min) / step + 1;
  if (count != tasks || (id - min) % step != 0) {
    throw Error(join("this Slurm array has ", tasks, " tasks from ", min, " to ", max,
                     ", so their numbers have gaps; give each its part by --part I/N, or submit an "
                     "array without gaps, such as --array=1-",
                     tasks));
  }
  return Place{(id - min) / step + 1, count, "SLURM_ARRAY_TASK_ID"};
}

std::optional<Place> place_of_launcher(const Lookup& environment) {
  for (const Launcher& launcher : launchers) {
    if (environment(launcher.rank) == nullptr || environment(launcher.ranks) == nullptr) continue;
    const std::uint32_t rank = number_in(environment, launcher.rank);
    const std::uint32_t ranks = number_in(environment, launcher.ranks);
    if (rank >= ranks) {
      throw Error(join(launcher.rank, " is ", rank, ", expected less than ", launcher.ranks,
                       ", which is ", ranks));
    }
    return Place{rank + 1, ranks, join(launcher.rank, " and ", launcher.ranks)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Place> place_in(const Lookup& environment) {
  const std::optional<Place> task = place_in_array(environment);
  const std::optional<Place> process = place_of_launcher(environment);
  if (!task || !process) return task ? task : process;
  return Place{(task->number - 1) * process->count + process->number, task->count * process->count,
               join(task->from, ", ", process->from)};
}

}  // namespace feedrate::tools
