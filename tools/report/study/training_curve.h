#pragma once
// How a training went: what `train --json` printed, read again.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace feedrate::tools {

struct TrainingCurve {
  struct Mark {
    std::uint64_t step = 0;
    std::optional<double> loss;
    std::optional<double> accuracy;  // of 1
  };
  std::string name;  // "lenet on cpu", and the file's name where several would be called so
  std::string file;
  std::optional<std::uint64_t> steps;
  std::optional<double> images_per_second;
  std::optional<double> loss;      // at the end
  std::optional<double> accuracy;  // of training, at the end
  std::vector<Mark> curve;         // as training went
  std::vector<Mark> validations;
};

/// Throws Error naming the file where it holds no such thing.
TrainingCurve read_training(const std::filesystem::path& file);
/// In the order given, with names that tell them apart.
std::vector<TrainingCurve> read_trainings(const std::vector<std::filesystem::path>& files);

}  // namespace feedrate::tools
