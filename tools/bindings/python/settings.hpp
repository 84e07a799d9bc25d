#pragma once
// What a loader of Python is to do. Any thread, once it is made.

#include <cstdint>
#include <memory>

#include "loader/loader.h"
#include "tools/bindings/python/native.hpp"

namespace feedrate::tools {

/// What Python's Loader was asked for, checked.
struct Settings {
  OpenDataset dataset;
  std::shared_ptr<const loader::Picks> picks;  // of `options`; null: every sample once an epoch
  const loader::Recipe* recipe = nullptr;
  loader::LoaderOptions options;  // of a run from the start
  formats::Shape shape;           // of every image in a batch
  std::uint64_t batches_per_epoch = 0;

  std::uint64_t epoch_size() const { return picks ? picks->size() : dataset.data->size(); }
};

}  // namespace feedrate::tools
