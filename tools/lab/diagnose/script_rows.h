#pragma once
// A diagnosis as rows of results, so that 'feedrate report' draws it. Pure function.

#include <vector>

#include "tools/lab/diagnose/diagnosis.h"
#include "tools/lab/measure/row.h"

namespace feedrate::tools {

/// The measured rates of the loop that `found` is about: supply where the sweep or --swap measured it, demand
/// without waits, delivered with the script's workers and with those of --restart. Of several ranks, the rates
/// are of that one. None where nothing could be measured.
std::vector<Row> script_rows(const Diagnosis& found, const Environment& environment);

}  // namespace feedrate::tools
