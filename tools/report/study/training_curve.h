#pragma once
// TrainingCurve: loss and accuracy of a training, read from the output of `train --json`.

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
    std::optional<double> accuracy;  // 0 … 1
  };
  std::string name;  // "lenet on cpu"; the file's name where several share that
  std::string file;
  std::optional<std::uint64_t> steps;
  std::optional<double> images_per_second;
  std::optional<double> loss;      // at the end
  std::optional<double> accuracy;  // on training images, at the end
  std::vector<Mark> curve;         // during training
  std::vector<Mark> validations;
};

/// Throws Error, naming the file, if it holds anything else.
TrainingCurve read_training(const std::filesystem::path& file);
/// In the order given, with distinct names.
std::vector<TrainingCurve> read_trainings(const std::vector<std::filesystem::path>& files);

}  // namespace feedrate::tools
