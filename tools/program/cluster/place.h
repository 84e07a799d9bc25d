#pragma once
// Which of several processes this one is, as its launcher's environment says it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace feedrate::tools {

struct Place {
  std::uint32_t number = 1;  // 1 … count
  std::uint32_t count = 1;
  std::string from;  // the variables that said so
};

/// The value of a variable, or null.
using Lookup = std::function<const char*(const char* name)>;

/// Its place in a Slurm array, and among the processes that mpirun, srun or torchrun started in each
/// task of it; nothing if no launcher's variables are set. Throws Error naming the variable when its
/// value is not what a launcher sets, or when the array has gaps.
std::optional<Place> place_in(const Lookup& environment);

}  // namespace feedrate::tools
