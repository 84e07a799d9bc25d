#pragma once
// The rows of the registry in source.cpp, one line a source.

#include "converters/source.h"

namespace feedrate {

extern const Source& mnist_source;

}  // namespace feedrate
