#pragma once
// The rows of the registry in synth.cpp, one line a made dataset.

#include "converters/synth.h"

namespace feedrate::converters {

extern const Synth& mnist_synth;
extern const Synth& cifar10_synth;
extern const Synth& imagenet_synth;

}  // namespace feedrate::converters
