#pragma once
// A loader's options as C gives them, checked.

#include "loader/settings.h"
#include "tools/bindings/c/calls.h"

namespace feedrate::tools {

/// Throws Failure, with FEEDRATE_MISUSED, for what makes no sense or does not suit the dataset.
loader::LoaderSetup checked_options(const feedrate_loader_options* given,
                                    const formats::Dataset& dataset);

}  // namespace feedrate::tools
