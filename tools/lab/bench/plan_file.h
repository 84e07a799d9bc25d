#pragma once
// Reads a plan: a JSON object that says what `feedrate bench` shall measure.

#include <filesystem>

#include "tools/lab/bench/plan.h"

namespace feedrate::tools {

/// Throws Error naming the file, and line and key where known, when it is not JSON, has an unknown
/// or repeated key, a value of the wrong type or out of range, or an unknown name.
BenchOptions read_plan(const std::filesystem::path& path);

}  // namespace feedrate::tools
