#pragma once
// What an epoch is asked to hold, in the words of the command line.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/dataset.h"
#include "loader/labels.h"
#include "loader/order/picks.h"

namespace feedrate::tools {

/// At most one of the first four.
struct OrderRequest {
  std::filesystem::path order{};  // a file with an index in each line
  std::string weights{};          // a file with a number in each line, or "balanced"
  std::string groups{};           // "8x4": 8 classes, 4 samples of each
  std::string mix{};              // "PATH:WEIGHT,PATH:WEIGHT", …
  std::uint64_t draws = 0;        // samples in an epoch of weights or of a mix; 0: all there are
};

/// Whether an epoch holds what was asked for, and not every sample once.
inline bool picks(const OrderRequest& request) {
  return !request.order.empty() || !request.weights.empty() || !request.groups.empty() ||
         !request.mix.empty();
}
/// The file of the weights, if they are in one.
std::vector<std::filesystem::path> weight_files(const OrderRequest& request);
/// Throw Error for texts that mean no groups or no mix, whatever the dataset.
void check_groups(std::string_view text);
void check_mix(std::string_view text);
/// The datasets of the mix.
std::vector<std::filesystem::path> mix_paths(const OrderRequest& request);

struct OpenedData {
  std::unique_ptr<formats::Dataset> dataset;
  std::unique_ptr<const loader::Picks> picks;  // null: every sample once an epoch
};

/// What happens to samples whose labels cannot be read, where an order depends on labels.
struct BadLabels {
  loader::BadPolicy policy = loader::BadPolicy::fail;
  std::uint64_t budget = 0;
};

/// The labels of all samples; warns where some have none.
loader::Labels told_labels(const formats::Dataset& dataset, const BadLabels& bad);

/// Opens the dataset at `path`, or those of the mix. Throws Error that names the file and the line
/// where a list is wrong.
OpenedData open_data(const std::filesystem::path& path, const OrderRequest& request, bool shuffle,
                     const BadLabels& bad);

/// How many samples an epoch of that data holds.
inline std::uint64_t epoch_size(const OpenedData& data) {
  return data.picks ? data.picks->size() : data.dataset->size();
}

}  // namespace feedrate::tools
