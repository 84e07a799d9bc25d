#pragma once
// How `feedrate convert` prints what it made.

#include <string>
#include <vector>

#include "tools/program/cluster/job.h"

namespace feedrate::tools {

/// What the user asked for, as the output repeats it.
struct ConversionNames {
  std::string source;
  std::string format;
};

/// Prints the notes that go with each result, and the results as text or JSON. `all` is not empty.
void print_conversions(const ConversionNames& names, const std::vector<Converted>& all, bool json);

}  // namespace feedrate::tools
