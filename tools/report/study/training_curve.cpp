#include "tools/report/study/training_curve.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "formats/base/error.h"
#include "tools/cli/text.h"
#include "tools/measure/or_null.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using nlohmann::json;

std::vector<TrainingCurve::Mark> marks(const json& object, const char* key) {
  std::vector<TrainingCurve::Mark> list;
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return list;
  if (!found->is_array()) throw Error(join(key, " is not a list"));
  for (const json& one : *found) {
    list.push_back({.step = one.at("step").get<std::uint64_t>(),
                    .loss = if_known<double>(one, "loss"),
                    .accuracy = if_known<double>(one, "accuracy")});
  }
  return list;
}

TrainingCurve parse(const json& object) {
  TrainingCurve training;
  training.name =
      object.at("network").get<std::string>() + " on " + object.at("device").get<std::string>();
  training.steps = if_known<std::uint64_t>(object, "steps");
  training.images_per_second = if_known<double>(object, "images_per_second");
  training.loss = if_known<double>(object, "loss");
  training.accuracy = if_known<double>(object, "accuracy");
  training.curve = marks(object, "curve");
  training.validations = marks(object, "validations");
  if (training.curve.empty() && training.validations.empty()) {
    throw Error("it has neither a curve nor validations");
  }
  return training;
}

}  // namespace

TrainingCurve read_training(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream || std::filesystem::is_directory(file)) fail(file, "cannot read it");
  constexpr const char* expected = "not the output of 'feedrate train --json': ";
  try {
    TrainingCurve training = parse(json::parse(stream));
    training.file = file.filename().string();
    return training;
  } catch (const Error& problem) {
    fail(file, expected, problem.what());
  } catch (const json::exception& problem) {
    fail(file, expected, without_prefix(problem.what()));
  }
}

std::vector<TrainingCurve> read_trainings(const std::vector<std::filesystem::path>& files) {
  std::vector<TrainingCurve> trainings;
  std::map<std::string, unsigned> uses;  // of each name
  for (const std::filesystem::path& file : files) {
    trainings.push_back(read_training(file));
    ++uses[trainings.back().name];
  }
  for (TrainingCurve& training : trainings) {
    if (uses[training.name] > 1) training.name = training.file;
  }
  return trainings;
}

}  // namespace feedrate::tools
