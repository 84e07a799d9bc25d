#pragma once
// Where batches for Python live.

#include <nanobind/nanobind.h>

#include <memory>

#include "loader/batch.h"

namespace feedrate::tools {

/// The memory of one loader's batches. Whatever it gave must be returned before it dies.
class BatchMemory {
 public:
  virtual ~BatchMemory() = default;
  virtual loader::PixelMemory& pixels() = 0;
};

/// Plain memory if `pin` is None. Otherwise pin(address, bytes) is called for every piece of it, and
/// unpin(address) before it is freed; what pin raises ends the loader with an Error. Needs the GIL;
/// pixels() then takes it when it has to.
std::shared_ptr<BatchMemory> memory_of(const nanobind::object& pin, const nanobind::object& unpin);

}  // namespace feedrate::tools
