#pragma once
// What `feedrate train` is asked to do, in parts of one meaning each.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "loader/settings.h"
#include "tools/console/decode.h"
#include "tools/lab/jobs/order_request.h"
#include "tools/lab/logs/logs.h"
#include "trainer/settings.h"

namespace feedrate::tools {

struct TrainingRequest {
  struct Data {
    std::filesystem::path path{};
    std::string recipe{};  // augmentation; "": the preset's, or the network's
    OrderRequest order{};  // what an epoch holds
    bool cold = false;     // evict the dataset from the page cache just before training
  };
  struct Model {
    std::string network{};  // "": the preset's
    std::string preset{};   // "": as the network was published
  };
  /// How batches reach the trainer.
  struct Feed {
    /// Of these: threads, pixels (wherever images are decoded), blocks of the shuffle, the crop
    /// index and bad samples.
    loader::LoaderSettings loader{.threads = 1};
    Decode decode = Decode::full;
    bool resident = false;  // repeat a few batches held in memory
    bool uploads = true;    // false: resident batches stay on the device

    /// What batches hold.
    loader::PixelType pixels() const { return pixels_of(decode, loader.pixels); }
  };
  struct Validation {
    std::filesystem::path path{};  // "": none
    std::uint64_t every = 0;       // epochs; 0: only at the end
  };
  struct Files {
    std::filesystem::path resume{};      // "": from the start
    std::filesystem::path checkpoint{};  // "": none
    std::uint64_t save_every = 0;        // steps; 0: only at the end
    std::filesystem::path features{};    // "": none
    LogPaths logs{};                     // of the first rank
  };

  trainer::Mode mode = trainer::Mode::train;  // the others: tools/lab/jobs/forward.h
  Data data{};
  Model model{};
  trainer::TrainSettings changes{};  // to the recipe
  trainer::DeviceSettings device{};
  Feed feed{};
  trainer::Length length{};  // in all, what a resumed checkpoint has done included
  double seconds = 0;        // 0: by `length`
  std::uint64_t seed = 1;
  Validation validation{};
  Files files{};
};

/// Fills in what the preset says and the request leaves open: the network and the augmentation.
/// Throws Error for an unknown preset.
void complete(TrainingRequest& request);

/// The recipe of the preset, or else of the network's authors, with the request's changes. Refers
/// to the request's strings.
trainer::TrainRecipe changed_recipe(const TrainingRequest& request);

/// A sentence that advises a smaller learning rate where --batch is far below the recipe's batch
/// and the rate was left as published; else "". The published rates of SGD fit their batches and
/// grow with them (Goyal et al., arXiv:1706.02677); those of other optimizers do not.
std::string rate_advice(const TrainingRequest& request);

}  // namespace feedrate::tools
