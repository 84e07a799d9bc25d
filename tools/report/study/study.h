#pragma once
// Rows brought together into what a person compares: for one way of training on the same images, a
// curve for each format and the rate the trainer could take.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/report/study/point.h"

namespace feedrate::tools {

/// One format as one tool read it, by rising thread count.
struct Curve {
  std::string format;             // "lmdb × raw", "pytorch · lmdb × raw", "lmdb × raw, cold"
  std::string tool{"feedrate"};   // or the framework that trained
  std::string cache{warm_cache};  // or cold
  std::string kept{};             // container and codec alone: "lmdb × raw"
  std::vector<Point> supply{};
  std::vector<Point> delivered{};
  std::optional<Point> demand{};   // of this tool's trainer
  std::optional<Point> compute{};  // of which nothing is copied to the device
};

/// One network on one device with the same images: all that a verdict needs. Without a network:
/// supply alone.
struct Study {
  std::string digest;
  std::string dataset;  // what people call it; "" when the paths do not tell
  std::string network;  // "" when only supply was measured
  std::string device;
  std::string precision;
  std::string recipe;
  std::uint32_t batch = 0;
  std::optional<Point> demand{};  // of feedrate's trainer, or of the only tool there is
  std::vector<Curve> curves{};    // feedrate's first

  /// "lenet on mnist, cpu, fp32, batch 64"
  std::string title() const;
};

/// Repeats of the same point in several rows are pooled; rows of different images (digests) are
/// studies of their own, for their rates do not compare.
std::vector<Study> make_studies(const std::vector<Run>& runs);

/// What people call the images of each digest: the folder in which all of them lie and no others
/// ("mnist" of data/mnist/lmdb and data/mnist/recordio); else the digest's first eight digits, or
/// "" where all rows are of the same images and nothing needs telling apart.
std::map<std::string, std::string> dataset_names(const std::vector<Run>& runs);

/// Of the study's curves those that a verdict chooses from: of feedrate and warm, where there are.
bool is_own(const Study& study, const Curve& curve);

/// Whether anything was delivered.
bool is_trained(const Study& study);

/// Which of the study's curves it is: decides its colour.
unsigned series_of(const Study& study, const Curve& curve);

/// How far predictions were off, in percent of what came.
struct PredictionError {
  std::size_t predictions = 0;
  double median = 0;
  double largest = 0;
};
/// Absent where nothing was predicted.
std::optional<PredictionError> prediction_error(const Study& study);
std::optional<PredictionError> prediction_error(const Curve& curve);

}  // namespace feedrate::tools
