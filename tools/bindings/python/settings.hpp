#pragma once
// What a loader of Python is to do. Any thread, once it is made.

#include <memory>

#include "loader/settings.h"
#include "tools/bindings/python/labels.hpp"
#include "tools/bindings/python/native.hpp"

namespace feedrate::tools {

/// What Python's Loader was asked for, checked.
struct Settings {
  OpenDataset dataset;
  std::shared_ptr<const loader::Picks> picks;  // of `setup`; null: every sample once an epoch
  std::shared_ptr<OwnLabels> labels;           // in place of classes; null: none
  loader::LoaderSettings asked;
  loader::LoaderSetup setup;  // of a run from the start
};

}  // namespace feedrate::tools
