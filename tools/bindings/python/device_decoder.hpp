#pragma once
// Batches of packed JPEGs that a device decodes.

#include <nanobind/nanobind.h>

#include "loader/batch.h"

namespace feedrate::tools {

/// What Python holds of a batch of PixelType::packed.
struct PackedBatch {
  loader::Batch batch;
  nanobind::object owner;  // of its memory
};

}  // namespace feedrate::tools
