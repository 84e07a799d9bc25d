#pragma once
// A training from a command line: open, compile, run, report.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loader/loader.h"
#include "loader/tuning/tuner.h"
#include "tools/lab/jobs/open.h"
#include "trainer/loop/trainer.h"

namespace feedrate::tools {

struct TrainingReport {
  struct Validation {
    std::uint64_t step;
    std::uint64_t epoch;  // whole epochs done
    trainer::Evaluation evaluation;
  };

  RunReport run;
  unsigned ranks = 1;
  std::string optimizer;
  trainer::TrainResult result;                    // of all ranks
  std::vector<Validation> validations;            // the last one at the end
  std::optional<loader::Tuning> tuning;           // with auto_threads
  std::optional<loader::LoaderStats> loader;      // absent when resident: the loader rests
  std::optional<bool> steps_recorded;             // Session::steps_recorded()
  std::optional<trainer::Overlap> early_kernels;  // Session::early_kernels()
  std::optional<trainer::Overlap> weight_branch;  // Session::weight_branch()
};

/// Takes a complete request. Throws Error when a name, a file or the device does not fit.
TrainingReport run_training(const TrainingRequest& request);

}  // namespace feedrate::tools
