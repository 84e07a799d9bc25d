#pragma once
// The rows of the registry in source.cpp, one line a source.

#include "converters/source.h"

namespace feedrate::converters {

extern const Source& imagenet_source;
extern const Source& mnist_source;
extern const Source& cifar10_source;
extern const Source& cifar100_source;
extern const Source& folder_source;
extern const Source& dataset_source;

}  // namespace feedrate::converters
