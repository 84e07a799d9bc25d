#pragma once
// A plan of a bench: a JSON object that says what `feedrate bench` is asked.

#include <filesystem>

#include "tools/bench/plan.h"

namespace feedrate::tools {

/// Throws Error naming the file, and the line and key where they can be told, when it is no JSON,
/// has a key that is unknown or there twice, a value of another type or beyond its range, or a name
/// that nothing has.
BenchOptions read_plan(const std::filesystem::path& path);

}  // namespace feedrate::tools
