#pragma once
// The device on which a command computes.

#include <string>

#include "trainer/backends/backend.h"

namespace feedrate::tools {

struct DeviceOptions {
  std::string name = "cpu";
  std::string precision = "fp32";
  /// Of a CPU; 0: every core. Loader threads rest while batches lie ready, so sharing the cores
  /// with them costs less than leaving them a core of their own; and what is learned does not
  /// depend on the number of loader threads.
  unsigned compute_threads = 0;
};

/// The device of that name. Throws Error with the reason when it cannot be used here.
const trainer::Backend& usable_backend(const std::string& name);

/// Prints a note when there are more threads than cores: they only take turns.
void note_oversubscription(const DeviceOptions& device, unsigned loader_threads);

/// How much of the device's memory the session's plan takes.
double planned_mib(const trainer::Session& session);

}  // namespace feedrate::tools
