#pragma once
// The events of a training as logs receive them, and JSON lines read back.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/lab/logs/logs.h"

namespace feedrate::testing {
using namespace trainer;
using namespace tools;

inline const Fields lenet{{"run", "train"},       {"dataset", "data/\"odd\"\\name\n"},
                          {"network", "lenet"},   {"device", "cpu"},
                          {"precision", "fp32"},  {"optimizer", "sgd"},
                          {"batch", 64U},         {"seed", 7U},
                          {"images", 600U},       {"learning_rate", 0.01},
                          {"momentum", 0.9},      {"decay", 0.0005},
                          {"warmup_epochs", 0.0}, {"validation_images", 100U},
                          {"cold", true}};

inline Fields progress(std::uint64_t step, double loss) {
  return fields_of(TrainOptions::Progress{.step = step,
                                          .epoch = 1,
                                          .loss = loss,
                                          .accuracy = 0.5,
                                          .accuracy5 = 0.75,
                                          .images_per_second = 1000,
                                          .stall_percent = 12.5},
                   0.25);
}

inline Fields validation(std::uint64_t step) {
  return fields_of({.images = 100, .loss = 0.5, .accuracy = 0.875, .accuracy5 = 1, .seconds = 1},
                   step, 2);
}

/// The start event of `feedrate load`.
inline Fields loading(const std::string& dataset) {
  return {{"run", "load"}, {"dataset", dataset}};
}

/// Two epochs of two steps, a validation after each. 64 + 36 images an epoch.
inline void train(Logs& logs) {
  logs.begin(lenet, 2);
  for (const std::uint64_t epoch : {0U, 1U}) {
    logs.step_begins(2 * epoch, 64);
    logs.step_begins(2 * epoch + 1, 36);
    logs.progress(progress(2 * epoch + 2, 2.5));
    logs.validation_begins(2 * epoch + 2);
    logs.validated(validation(2 * epoch + 2));
  }
  logs.end();
}

/// The objects of a file. Each line is `mark` and an object.
inline std::vector<nlohmann::json> objects_of(const std::filesystem::path& file,
                                              std::string_view mark = "") {
  std::vector<nlohmann::json> objects;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    EXPECT_TRUE(line.starts_with(mark)) << line;
    objects.push_back(nlohmann::json::parse(line.substr(mark.size())));
  }
  return objects;
}

}  // namespace feedrate::testing
