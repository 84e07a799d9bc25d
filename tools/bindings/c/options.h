#pragma once
// Options as C gives them, checked.

#include "formats/remote/settings.h"
#include "loader/settings.h"
#include "tools/bindings/c/calls.h"

namespace feedrate::tools {

/// Throws Failure, with FEEDRATE_MISUSED, for what makes no sense or does not suit the dataset.
loader::LoaderSetup checked_options(const feedrate_loader_options* given,
                                    const formats::Dataset& dataset);
/// Throws the same for what makes no sense.
formats::RemoteSettings checked_options(const feedrate_remote_options* given);

}  // namespace feedrate::tools
