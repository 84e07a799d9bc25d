#pragma once
// One training from a command line: dataset, loader, session and telemetry put together.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "loader/loader.h"
#include "loader/tuning/tuner.h"
#include "tools/logs/logs.h"
#include "tools/measure/telemetry.h"
#include "trainer/loop/trainer.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {

struct TrainingRequest {
  std::string mode = "train";  // or infer, or features: tools/run/forward.h
  std::filesystem::path path;
  std::filesystem::path validation;  // "": none
  std::string network;
  std::string recipe;  // "": the preset's, or none
  std::string device = "cpu";
  std::string precision = "fp32";
  loader::PixelType pixels = loader::PixelType::u8;  // that the loader gives and the device takes
  unsigned threads = 1;                              // of the loader
  bool auto_threads = false;  // the loader finds their number; the trainer's thread keeps a core
  /// Of a CPU trainer; 0: every core. Loader threads rest while batches lie ready, so leaving them
  /// a core of their own costs more than sharing; and the trained bits do not depend on --threads.
  unsigned compute_threads = 0;
  std::uint32_t batch = 0;  // 0, and absent values below: as the preset or the network says
  std::string optimizer;    // another than published starts from its own defaults
  std::string preset;       // "": as the network was published
  std::string schedule;     // "": as published
  std::optional<double> rate;
  std::optional<double> momentum;
  std::optional<double> decay;
  std::optional<double> beta2;
  std::optional<double> epsilon;
  std::optional<double> trust;
  std::optional<double> warmup;  // epochs
  std::optional<double> smoothing;
  std::string init;  // "": the network's own
  bool zero_gamma = false;
  std::vector<double> means;       // of pixels, one or one a channel; none: as published
  std::vector<double> deviations;  // the same
  std::uint64_t epochs = 0;  // in all, those before a checkpoint included; 0: the preset's, or 1
  std::uint64_t steps = 0;   // in all; 0: by epochs
  double seconds = 0;        // 0: by epochs or steps
  std::uint64_t seed = 1;
  bool resident = false;
  bool uploads = true;               // false: resident batches stay on the device
  bool cold = false;                 // the system forgets the dataset just before training
  std::uint64_t val_every = 0;       // epochs; 0: at the end
  std::filesystem::path checkpoint;  // "": none
  std::uint64_t save_every = 0;      // steps; 0: at the end
  std::filesystem::path resume;      // "": from the start
  std::filesystem::path out;         // of features; "": none
  LogPaths logs;                     // of the first rank
};

struct TrainingReport {
  std::int64_t parameters = 0;
  std::uint64_t macs = 0;
  std::uint32_t batch = 0;  // of all ranks
  unsigned ranks = 1;
  std::string device_name;
  std::string optimizer;
  trainer::TrainResult result;
  struct Validation {
    std::uint64_t step;
    std::uint64_t epoch;  // whole ones done
    trainer::Evaluation evaluation;
  };
  std::vector<Validation> validations;        // the last at the end
  unsigned threads = 0;                       // of the loader, in the end
  std::optional<loader::Tuning> tuning;       // where the loader was to find their number
  std::optional<loader::LoaderStats> loader;  // absent when resident: the loader is not at work
  std::optional<bool> steps_recorded;         // as of the session
  Telemetry telemetry;
};

/// Fills in what a preset says and nobody else does: the network and how images are augmented.
void complete(TrainingRequest& request);

/// What the preset or the network's authors say, under what the options say.
trainer::TrainRecipe wanted_recipe(const TrainingRequest& request,
                                   const trainer::Network& definition);

/// Of a complete request. Throws Error when a name, a file or the device does not fit.
TrainingReport run_training(const TrainingRequest& request);

}  // namespace feedrate::tools
