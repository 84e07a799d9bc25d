#pragma once
// The files of a dataset that are objects of a server.

#include <memory>
#include <vector>

#include "formats/dataset.h"
#include "formats/remote/remote_object.h"

namespace feedrate::tools {

/// Those that hold the samples, without indices and what else lies beside them.
std::vector<std::shared_ptr<formats::RemoteObject>> served_files(const formats::Dataset& dataset);

}  // namespace feedrate::tools
