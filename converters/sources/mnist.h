#pragma once
// MNIST and the sets published in its packaging: a pair of IDX files for each split.

#include "converters/source.h"

namespace feedrate {

extern const Source& mnist_source;

}  // namespace feedrate
