#pragma once
// Study: the comparable rows of a bench, grouped: for one network on the same images, a curve for
// each format, and demand.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/report/study/point.h"

namespace feedrate::tools {

/// One format, read by one tool. Points are sorted by rising thread count.
struct Curve {
  std::string format;             // "lmdb × raw", "pytorch · lmdb × raw, cold": see stored_as
  std::string tool{"feedrate"};   // or the framework: pytorch
  std::string cache{warm_cache};  // or cold
  std::string stored_as{};        // container and codec, and the path if others have the same
  bool remote = false;            // on a server
  std::vector<Point> supply{};
  std::vector<Point> delivered{};
  std::optional<Point> demand{};   // of this tool's trainer
  std::optional<Point> compute{};  // demand without copies to the device
};

/// One network on one device with the same images: all that a verdict needs. A study without a
/// network has supply only.
struct Study {
  std::string digest;
  std::string dataset;  // its name (see dataset_names), or ""
  std::string network;  // "" when only supply was measured
  std::string device;
  std::string precision;
  std::string recipe;
  std::uint32_t batch = 0;
  std::string machine{};          // "" where all rows come from one
  std::string emulates{};         // of an emulated device its rate and source, else ""
  std::optional<double> emulated_rate{};  // images/s
  bool has_namesakes = false;             // studies of a device of this name at another rate
  std::optional<Point> demand{};  // of feedrate's trainer, or of the only tool there is
  std::vector<Curve> curves{};    // feedrate's come first

  /// "lenet on mnist, cpu, fp32, batch 64", and the recipe unless it is none
  std::string title() const;
  /// Whether 'feedrate diagnose' measured it.
  bool is_of_script() const { return recipe.empty(); }
  /// What its numbers of threads count: "loader thread"; of a script's DataLoaders, "worker".
  std::string_view worker() const;
};

/// The study that a row belongs to, without points. `dataset` is the name of its images.
Study empty_study(const Row& row, const std::string& dataset);

/// The path of a row's dataset, in one of its spellings: "data/lmdb" for "./data/lmdb/".
std::string plain_path(const Row& row);

/// What a row's curve is called: "lmdb × raw", "pytorch · lmdb × raw, cold".
std::string row_label(const Row& row);

/// "AMD EPYC, 8 cores, no GPU": where the row was measured.
std::string machine_of(const Row& row);

/// Pools rows of the same point. Rows with different images (digests) or of different machines go
/// to different studies, because their rates cannot be compared.
std::vector<Study> make_studies(const std::vector<Row>& rows);

/// Names the images of each digest: after the folder that all datasets with this digest, and no
/// others, lie in ("mnist" for data/mnist/lmdb and data/mnist/recordio). Without such a folder, the
/// digest's first eight digits, or "" where all rows have the same digest.
std::map<std::string, std::string> dataset_names(const std::vector<Row>& rows);

/// Whether a verdict may choose this curve: feedrate's and warm ones only, where there are any.
bool is_candidate(const Study& study, const Curve& curve);

/// What this curve's numbers of threads count: the same, but for a script's curve with our loader.
std::string_view worker_of(const Study& study, const Curve& curve);

/// The index of the curve in its study, which decides its colour.
unsigned series_of(const Study& study, const Curve& curve);

/// The error of predictions, in percent of the measured rate.
struct PredictionError {
  std::size_t predictions = 0;
  double median = 0;
  double largest = 0;
};
/// Absent when nothing was predicted.
std::optional<PredictionError> prediction_error(std::span<const Curve> curves);

}  // namespace feedrate::tools
