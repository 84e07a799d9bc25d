// MNIST and Fashion-MNIST: md5 from torchvision's and Zalando's lists; hashes of the content computed
// from copies with the right md5 (MNIST) and from Debian's package dataset-fashion-mnist.

#include "converters/downloads/fetch.h"

namespace feedrate::converters {

namespace {

constexpr PublishedFile mnist_files[] = {
    {"train-images-idx3-ubyte.gz", 9'912'422, "f68b3c2dcbeaaa9fbdd348bbdeb94873",
     "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
    {"train-labels-idx1-ubyte.gz", 28'881, "d53e105ee54ea40749a09fcbcd1e9432",
     "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
    {"t10k-images-idx3-ubyte.gz", 1'648'877, "9fb629c4189551a2d022fa330f9573f3",
     "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
    {"t10k-labels-idx1-ubyte.gz", 4'542, "ec29112dd5afa0611ce80d1b7f02629c",
     "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
};
constexpr std::string_view mnist_mirrors[] = {
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
    "http://yann.lecun.com/exdb/mnist/",
};

constexpr PublishedFile fashion_files[] = {
    {"train-images-idx3-ubyte.gz", 26'421'880, "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
     "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
    {"train-labels-idx1-ubyte.gz", 29'515, "25c81989df183df01b3e8a0aad5dffbe",
     "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
    {"t10k-images-idx3-ubyte.gz", 4'422'102, "bef4ecab320f06d8554ea6380940ec79",
     "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
    {"t10k-labels-idx1-ubyte.gz", 5'148, "bb300cfdad3c16e7a12a480ee83cd310",
     "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"},
};
constexpr std::string_view fashion_mirrors[] = {
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
};

const Published mnist("mnist", "70,000 handwritten digits of 28x28 grey pixels", mnist_files,
                      mnist_mirrors);
const Published fashion_mnist("fashion-mnist", "70,000 pieces of clothing of 28x28 grey pixels",
                              fashion_files, fashion_mirrors);

}  // namespace

extern const Published &mnist_published, &fashion_mnist_published;
const Published& mnist_published = mnist;
const Published& fashion_mnist_published = fashion_mnist;

}  // namespace feedrate::converters
