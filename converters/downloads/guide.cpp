#include "converters/downloads/guide.h"

namespace feedrate::converters {
namespace {

constexpr std::string_view imagenet_commands[] = {
    "feedrate convert imagenet . --split train --to recordio --out imagenet/train",
    "feedrate convert imagenet . --split val --to recordio --out imagenet/val"};
constexpr std::string_view hub_commands[] = {
    "hf download ILSVRC/imagenet-1k --repo-type dataset --local-dir .",
    "feedrate load data/train-00000-of-00294.parquet --recipe imagenet-train  # where it lies",
    "feedrate convert dataset data/train-00000-of-00294.parquet --to recordio --out imagenet/train",
    "feedrate convert dataset data/validation-00000-of-00014.parquet --to recordio "
    "--out imagenet/val"};
constexpr std::string_view mds_commands[] = {
    "feedrate load mds --recipe imagenet-train  # where it lies",
    "feedrate convert dataset mds --to recordio --out mine"};
constexpr std::string_view kaggle_commands[] = {
    "unzip -j imagenet-object-localization-challenge.zip LOC_val_solution.csv",
    "feedrate convert folder imagenet-object-localization-challenge.zip --split train "
    "--to recordio --out imagenet/train",
    "feedrate convert folder imagenet-object-localization-challenge.zip --split val "
    "--labels LOC_val_solution.csv --to recordio --out imagenet/val"};
constexpr std::string_view tiny_commands[] = {
    "unzip -j tiny-imagenet-200.zip tiny-imagenet-200/val/val_annotations.txt",
    "feedrate convert folder tiny-imagenet-200.zip --split train --to recordio --out tiny/train",
    "feedrate convert folder tiny-imagenet-200.zip --split val --labels val_annotations.txt "
    "--to recordio --out tiny/val"};
constexpr std::string_view imagenette_commands[] = {
    "feedrate convert folder imagenette2.tgz --split all --to recordio --out imagenette"};
constexpr std::string_view places_commands[] = {
    "feedrate convert folder places365standard_easyformat.tar --split all --to recordio "
    "--out places"};
constexpr std::string_view inaturalist_commands[] = {
    "feedrate convert folder train.tar.gz --to recordio --out inaturalist/train",
    "feedrate convert folder val.tar.gz --to recordio --out inaturalist/val"};
constexpr std::string_view cifar10_commands[] = {
    "feedrate fetch cifar10 --out archives",
    "feedrate convert cifar10 archives --split all --to recordio --out cifar10"};
constexpr std::string_view mnist_commands[] = {
    "feedrate fetch mnist --out archives",
    "feedrate convert mnist archives --split all --to lmdb --out mnist"};

constexpr SourceGuide guides[] = {
    {"ImageNet (ILSVRC2012)",
     "ILSVRC2012_img_train.tar, ILSVRC2012_img_val.tar, ILSVRC2012_devkit_t12.tar.gz",
     "https://image-net.org/download (an account)", "imagenet", imagenet_commands},
    {"ImageNet (and others) from the Hugging Face Hub",
     "data/train-00000-of-00294.parquet … and data/validation-00000-of-00014.parquet …",
     "https://huggingface.co/datasets/ILSVRC/imagenet-1k (an account)", "", hub_commands},
    {"ImageNet as Kaggle ships it", "imagenet-object-localization-challenge.zip",
     "https://www.kaggle.com/c/imagenet-object-localization-challenge (an account)",
     "imagenet-kaggle", kaggle_commands},
    {"Tiny ImageNet", "tiny-imagenet-200.zip", "http://cs231n.stanford.edu/tiny-imagenet-200.zip",
     "tiny-imagenet", tiny_commands},
    {"Imagenette", "imagenette2.tgz", "https://github.com/fastai/imagenette", "imagenette",
     imagenette_commands},
    {"Places365", "places365standard_easyformat.tar", "http://places2.csail.mit.edu/download.html",
     "places365", places_commands},
    {"iNaturalist 2021", "train.tar.gz, val.tar.gz", "https://github.com/visipedia/inat_comp",
     "inaturalist", inaturalist_commands},
    {"MDS of Mosaic's streaming", "index.json and its shards, in a directory such as mds",
     "what MDSWriter wrote", "", mds_commands},
    {"CIFAR-10 (and CIFAR-100)", "fetched", "https://www.cs.toronto.edu/~kriz/cifar.html",
     "cifar10", cifar10_commands},
    {"MNIST (and Fashion-MNIST)", "fetched", "https://ossci-datasets.s3.amazonaws.com/mnist/",
     "mnist", mnist_commands},
};

}  // namespace

std::span<const SourceGuide> source_guides() { return guides; }

}  // namespace feedrate::converters
