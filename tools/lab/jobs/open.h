#pragma once
// The first two steps of every mode of `feedrate train`: open what it needs, compile the network.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/dataset.h"
#include "loader/recipe.h"
#include "tools/lab/jobs/device_decoding.h"
#include "tools/lab/jobs/training_request.h"
#include "tools/lab/measure/server_work.h"
#include "tools/lab/measure/telemetry.h"
#include "trainer/backends/backend.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {

struct Opened {
  const trainer::Backend& device;
  const trainer::Network& network;
  trainer::TrainRecipe recipe;
  const loader::Recipe&
      augmentation;  // as asked for, or the network's; of evaluation, unless it trains
  std::unique_ptr<formats::Dataset> dataset;
  std::unique_ptr<const loader::Picks> picks;    // what an epoch holds; null: every image once
  std::unique_ptr<formats::Dataset> validation;  // null: none
  formats::Shape shape;                          // of the images in batches
  formats::RemoteCounts fetched_before;          // anything of these was opened

  std::uint64_t epoch_images() const { return picks ? picks->size() : dataset->size(); }
};

/// Takes a complete request, which must outlive the result. Throws Error when a name, a file, the
/// device or the number of ranks does not fit.
Opened open(const TrainingRequest& request);

/// Builds the network with the recipe's changes, compiles it for this rank's share of a batch, and
/// gives it its first weights: those of the seed.
std::unique_ptr<trainer::Session> compile(const TrainingRequest& request, const Opened& opened);

/// What the reports of all modes have in common.
struct RunReport {
  std::int64_t parameters = 0;
  std::uint64_t macs = 0;
  std::uint32_t batch = 0;  // of all ranks
  unsigned threads = 0;     // of the loader, in the end
  std::string recipe;       // of the loader
  std::string device_name;
  std::vector<trainer::ProductEngine> engines;
  Telemetry telemetry;
  std::optional<DeviceDecoded> decoded;  // with Decode::device, of all ranks
  std::optional<ServerWork> remote;      // since it was opened; absent: all is on this machine
};

/// Who decoded the images of a session's batches so far, on all ranks; absent unless it decodes.
std::optional<DeviceDecoded> decoded_by(const TrainingRequest& request,
                                        const trainer::Session& session);

/// What servers were asked for since `opened` began to open; absent where all data is on this machine.
std::optional<ServerWork> fetched_for(const Opened& opened);

RunReport describe(const TrainingRequest& request, const Opened& opened,
                   const trainer::Session& session);

}  // namespace feedrate::tools
