#include "converters/cifar/cifar_source.h"

namespace feedrate::converters {
namespace {

const CifarSource cifar10_row(cifar10_layout,
                              "CIFAR-10's binary or python archive, or its unpacked files");

}  // namespace

const Source& cifar10_source = cifar10_row;

}  // namespace feedrate::converters
