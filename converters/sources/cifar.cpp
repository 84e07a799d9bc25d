#include "converters/cifar/cifar_source.h"

namespace feedrate::converters {
namespace {

const CifarSource cifar10_row(cifar10_layout,
                              "CIFAR-10's binary or python archive, or its unpacked files");
const CifarSource cifar100_row(cifar100_layout,
                               "CIFAR-100's binary or python archive, or its unpacked files");

}  // namespace

const Source& cifar10_source = cifar10_row;
const Source& cifar100_source = cifar100_row;

}  // namespace feedrate::converters
