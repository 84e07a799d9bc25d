// CIFAR-10 and CIFAR-100 in the binary packaging, which needs no reader of Python's pickles. Sizes
// and md5 as its server and page state them.

#include "converters/downloads/fetch.h"

namespace feedrate::converters {

namespace {

constexpr PublishedFile cifar10_files[] = {
    {"cifar-10-binary.tar.gz", 170'052'171, "c32a1d4ab5d03f1284b67883e8d87530", ""},
};
constexpr PublishedFile cifar100_files[] = {
    {"cifar-100-binary.tar.gz", 168'513'733, "03b5dce01913d631647c71ecec9e9cb8", ""},
};
constexpr std::string_view cifar_mirrors[] = {"https://www.cs.toronto.edu/~kriz/",
                                              "https://cave.cs.toronto.edu/kriz/"};

const Published cifar10("cifar10", "60,000 photographs of 32x32 pixels in 10 classes",
                        cifar10_files, cifar_mirrors);
const Published cifar100("cifar100", "60,000 photographs of 32x32 pixels in 100 classes",
                         cifar100_files, cifar_mirrors);

}  // namespace

extern const Published &cifar10_published, &cifar100_published;
const Published& cifar10_published = cifar10;
const Published& cifar100_published = cifar100;

}  // namespace feedrate::converters
