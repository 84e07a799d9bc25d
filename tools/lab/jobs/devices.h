#pragma once
// The device on which a command computes.

#include <string>

#include "trainer/backends/backend.h"
#include "trainer/settings.h"

namespace feedrate::tools {

/// The device of that name. Throws Error with the reason when it cannot be used here.
const trainer::Backend& usable_backend(const std::string& name);

/// Prints a note when there are more threads than cores: they only take turns.
void note_oversubscription(const trainer::DeviceSettings& device, unsigned loader_threads);

/// How much of the device's memory the session's plan takes.
double planned_mib(const trainer::Session& session);

}  // namespace feedrate::tools
