#pragma once
// What the commands that compute ask of devices.

#include <string>

#include "trainer/backends/backend.h"

namespace feedrate::tools {

/// The device of that name; throws Error with the reason when it cannot be used here.
const trainer::Backend& usable_backend(const std::string& name);

/// Beyond the cores, more threads only take turns: allowed, but said. `compute_threads` are those
/// of the device "cpu".
void note_oversubscription(const std::string& device, unsigned loader_threads,
                           unsigned compute_threads);

/// What a session's plan takes of the device's memory.
double planned_mib(const trainer::Session& session);

}  // namespace feedrate::tools
