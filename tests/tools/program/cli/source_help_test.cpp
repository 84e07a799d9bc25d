// Each row of `feedrate help sources`, on made archives with the layout of the published ones.

#include "tools/program/cli/source_help.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "converters/downloads/guide.h"
#include "converters/synth.h"
#include "formats/dataset.h"
#include "tests/converters/make_archive.h"
#include "tests/support/make_mds.h"
#include "tests/support/make_parquet.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"

namespace feedrate::tools {
namespace {

using namespace testing;
namespace fs = std::filesystem;
using converters::SourceGuide;

std::string jpeg(std::uint32_t number) {
  Buffer encoded;
  jpeg_codec.encode(make_image({8, 9, 3}, number), encoded);
  return std::string(as_text(encoded));
}

const Packing zip{ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE};

void make_published(const fs::path& directory, const char* synth) {
  converters::make_archives(converters::synth(synth), directory, {.images = 60});
}

// The files of each row in `directory`, as published, but for the number of images.
const std::map<std::string_view, void (*)(const fs::path& directory)> layouts = {
    {"ImageNet (ILSVRC2012)",
     [](const fs::path& directory) {
       make_published(directory / "made", "imagenet");
       for (const auto& file : fs::directory_iterator(directory / "made")) {
         fs::rename(file.path(), directory / file.path().filename());
       }
     }},
    {"ImageNet (and others) from the Hugging Face Hub",
     [](const fs::path& directory) {
       fs::create_directory(directory / "data");
       const std::map<std::string, std::int64_t> splits{
           {"train", 294}, {"validation", 14}, {"test", 28}};
       for (const auto& [split, shards] : splits) {
         for (std::int64_t shard = 0; shard < shards; ++shard) {
           const std::int64_t label = split == "test" ? -1 : shard % 9;
           const Buffer file = make_parquet({{jpeg(static_cast<std::uint32_t>(shard)), label}});
           write(
               directory / "data" / fmt::format("{}-{:05}-of-{:05}.parquet", split, shard, shards),
               std::string(as_text(file)));
         }
       }
     }},
    {"MDS of Mosaic's streaming",
     [](const fs::path& directory) {
       make_mds(directory / "mds", {{{jpeg(1), 0}, {jpeg(2), 1}}, {{jpeg(3), 0}}});
     }},
    {"ImageNet as Kaggle ships it",
     [](const fs::path& directory) {
       const std::string root = "ILSVRC/Data/CLS-LOC/";
       write(directory / "imagenet-object-localization-challenge.zip",
             make_archive({{"ILSVRC/Annotations/CLS-LOC/val/ILSVRC2012_val_00000001.xml", "<a/>"},
                           {root + "test/ILSVRC2012_test_00000001.JPEG", jpeg(9)},
                           {root + "train/n01440764/n01440764_10026.JPEG", jpeg(1)},
                           {root + "train/n01443537/n01443537_10007.JPEG", jpeg(2)},
                           {root + "val/ILSVRC2012_val_00000001.JPEG", jpeg(3)},
                           {root + "val/ILSVRC2012_val_00000002.JPEG", jpeg(4)},
                           {"LOC_synset_mapping.txt", "n01440764 tench, Tinca tinca\n"}},
                          zip));
       write(directory / "LOC_val_solution.csv",
             "ImageId,PredictionString\nILSVRC2012_val_00000002,n01440764 1 2 3 4 \n"
             "ILSVRC2012_val_00000001,n01443537 85 1 499 272 n01443537 1 2 3 4 \n");
     }},
    {"Tiny ImageNet",
     [](const fs::path& directory) {
       const std::string root = "tiny-imagenet-200/";
       const std::string annotations = "val_0.JPEG\tn03444034\t0\t32\t44\t62\n";
       write(directory / "tiny-imagenet-200.zip",
             make_archive({{root + "wnids.txt", "n03444034\n"},
                           {root + "train/n02124075/images/n02124075_0.JPEG", jpeg(1)},
                           {root + "train/n02124075/n02124075_boxes.txt", "n02124075_0.JPEG\t0"},
                           {root + "train/n03444034/images/n03444034_0.JPEG", jpeg(2)},
                           {root + "val/images/val_0.JPEG", jpeg(3)},
                           {root + "val/val_annotations.txt", annotations},
                           {root + "test/images/test_0.JPEG", jpeg(4)}},
                          zip));
       write(directory / "val_annotations.txt", annotations);
     }},
    {"Imagenette",
     [](const fs::path& directory) {
       write(directory / "imagenette2.tgz",
             tar_gz({{"imagenette2/train/n01440764/n01440764_10026.JPEG", jpeg(1)},
                     {"imagenette2/val/n01440764/n01440764_3010.JPEG", jpeg(2)},
                     {"imagenette2/noisy_imagenette.csv", "path,noisy_labels_0\n"}}));
     }},
    {"Places365",
     [](const fs::path& directory) {
       write(directory / "places365standard_easyformat.tar",
             tar({{"places365_standard/train/airfield/00000001.jpg", jpeg(1)},
                  {"places365_standard/train/zen_garden/00000001.jpg", jpeg(2)},
                  {"places365_standard/val/airfield/Places365_val_00000435.jpg", jpeg(3)},
                  {"places365_standard/train.txt", "train/airfield/00000001.jpg\n"}}));
     }},
    {"iNaturalist 2021",
     [](const fs::path& directory) {
       for (const std::string split : {"train", "val"}) {
         write(directory / (split + ".tar.gz"),
               tar_gz({{split + "/00000_Animalia_Annelida_Clitellata/a.jpg", jpeg(1)},
                       {split + "/00001_Animalia_Annelida_Clitellata/b.jpg", jpeg(2)}}));
       }
     }},
    {"CIFAR-10 (and CIFAR-100)",
     [](const fs::path& directory) { make_published(directory / "archives", "cifar10"); }},
    {"MNIST (and Fashion-MNIST)",
     [](const fs::path& directory) { make_published(directory / "archives", "mnist"); }}};

TEST(CommandsHelpSources, every_row_reads_the_files_that_it_names) {
  for (const SourceGuide& guide : converters::source_guides()) {
    const TempDirectory directory;
    ASSERT_TRUE(layouts.contains(guide.name)) << guide.name << " has no made archive";
    layouts.at(guide.name)(directory.path());
    int converted = 0;
    for (const std::string_view command : guide.commands) {
      const bool ours =
          command.starts_with("feedrate convert ") || command.starts_with("feedrate load ");
      if (!ours) continue;  // a download or unzip
      const Said said =
          run_program("/bin/sh", {"-c", join("cd '", directory.path().string(), "' && '",
                                             program_under_test(), "'", command.substr(8))});
      EXPECT_EQ(said.code, 0) << command << ": " << said.errors;
      ++converted;
    }
    EXPECT_GT(converted, 0) << guide.name;
  }
}

TEST(CommandsHelpSources, kaggles_lists_give_the_labels_of_the_directories) {
  const TempDirectory directory;
  layouts.at("ImageNet as Kaggle ships it")(directory.path());
  const Said said = testing::feedrate(
      {"convert", "folder", (directory / "imagenet-object-localization-challenge.zip").string(),
       "--split", "val", "--labels", (directory / "LOC_val_solution.csv").string(), "--to",
       "recordio", "--out", (directory / "val").string()});
  ASSERT_EQ(said.code, 0) << said.errors;
  const auto dataset = open_dataset(directory / "val");
  ASSERT_EQ(dataset->size(), 2U);
  EXPECT_EQ(dataset->info().classes, 2U);
  Scratch scratch;
  EXPECT_EQ(dataset->read(0, scratch).label, 1);
  EXPECT_EQ(dataset->read(0, scratch).name, "ILSVRC2012_val_00000001.JPEG");
  EXPECT_EQ(dataset->read(1, scratch).label, 0);
}

TEST(CommandsHelpSources, it_names_every_dataset) {
  const Said said = testing::feedrate({"help", "sources"});
  EXPECT_EQ(said.code, 0);
  for (const SourceGuide& guide : converters::source_guides()) {
    EXPECT_NE(said.output.find(guide.name), std::string::npos) << guide.name;
  }
}

}  // namespace
}  // namespace feedrate::tools
