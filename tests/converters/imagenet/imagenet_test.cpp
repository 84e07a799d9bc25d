#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "converters/source.h"
#include "tests/converters/make_annotation.h"
#include "tests/converters/make_devkit.h"
#include "tests/converters/make_imagenet.h"
#include "tests/support/data.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;
using Inputs = std::vector<fs::path>;

const Read three_classes = {{0, "n01440764/n01440764_2.JPEG", image(2)},
                            {0, "n01440764/n01440764_10.JPEG", image(10)},
                            {999, "n15075141/n15075141_7.JPEG", image(7)},
                            {65, "n01751748/n01751748_1.jpg", image(1)}};

TEST(UnitImagenet, training_images_come_in_the_order_of_the_tars_with_sorted_wnids_as_labels) {
  const TempDirectory directory;
  const auto plain = write(directory / "any_name.tar", train_tar());
  const auto stream = source("imagenet").open(Inputs{plain}, "train");
  EXPECT_TRUE(stream->lasting());
  EXPECT_EQ(read(*stream), three_classes);
  EXPECT_EQ(stream->info().classes, 1000U);
  EXPECT_EQ(stream->info().class_names.names, imagenet_wnids());
  EXPECT_TRUE(stream->info().class_names.texts.empty());
  EXPECT_EQ(stream->info().size, 0U);
  EXPECT_EQ(stream->info().label_space, "ILSVRC2012: index of the sorted wnids, 0..999");
}

TEST(UnitImagenet, a_compressed_tar_a_directory_and_single_class_tars_give_the_same) {
  const TempDirectory directory;
  const auto gz = write(directory / "train.tar.gz", compressed(train_tar()));
  const auto stream = source("imagenet").open(Inputs{gz}, "train");
  EXPECT_FALSE(stream->lasting());
  EXPECT_EQ(read(*stream), three_classes);

  const fs::path classes = directory / "classes";
  fs::create_directory(classes);
  Inputs tars;
  for (const auto& [name, content] : class_tars()) tars.push_back(write(classes / name, content));
  EXPECT_EQ(read(tars, "train"), three_classes);
  Read sorted = three_classes;  // a directory has no order of its own
  std::swap(sorted[2], sorted[3]);
  EXPECT_EQ(read({classes}, "train"), sorted);
  EXPECT_TRUE(source("imagenet").open(Inputs{classes}, "train")->lasting());
}

TEST(UnitImagenet, datasets_beside_the_archives_are_no_archives) {
  const TempDirectory directory;
  for (const auto& [name, content] : class_tars()) write(directory / name, content);
  Read sorted = three_classes;
  std::swap(sorted[2], sorted[3]);
  for (const auto& [made, file] :
       {std::pair("out.partial", ".feedrate-partial"), std::pair("out", "feedrate.json")}) {
    fs::create_directory(directory / made);
    formats::write_text(directory / made / file, "");
    formats::write_text(directory / made / "train-000000.tar", "half a header");
  }
  EXPECT_EQ(read({directory.path()}, "train"), sorted);
}

TEST(UnitImagenet, samples_of_plain_tars_can_be_collected) {
  const TempDirectory directory;
  const auto stream =
      source("imagenet").open(Inputs{write(directory / "train.tar", train_tar())}, "train");
  std::vector<Sample> samples;
  for (Sample sample; stream->next(sample);) samples.push_back(sample);
  ASSERT_EQ(samples.size(), three_classes.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(samples[i].name, three_classes[i].name);
    EXPECT_EQ(as_text(samples[i].bytes), three_classes[i].bytes);
  }
}

TEST(UnitImagenet, validation_images_come_in_the_order_of_their_names_labelled_by_the_devkit) {
  const TempDirectory directory;
  const auto val = write(directory / "val.tar", val_tar({50000, 3, 1, 777}));
  const auto gz = write(directory / "val.tar.gz", compressed(val_tar({50000, 3, 1, 777})));
  const auto devkit = write(directory / "devkit.tar.gz", make_devkit());
  const Read expected = {
      {made_val_label(0), "ILSVRC2012_val_00000001.JPEG", image(1)},
      {made_val_label(2), "ILSVRC2012_val_00000003.JPEG", image(3)},
      {made_val_label(776), "ILSVRC2012_val_00000777.JPEG", image(777)},
      {made_val_label(49999), "ILSVRC2012_val_00050000.JPEG", image(50000)},
  };
  for (const Inputs& inputs : {Inputs{val, devkit}, Inputs{devkit, val}, Inputs{gz, devkit}}) {
    const auto stream = source("imagenet").open(inputs, "val");
    EXPECT_EQ(stream->info().size, 4U);
    EXPECT_EQ(stream->info().class_names.texts[0], "tench, Tinca tinca");
    EXPECT_TRUE(stream->lasting());
    EXPECT_EQ(read(*stream), expected);
  }
}

TEST(UnitImagenet, validation_images_can_be_had_in_any_order) {
  const TempDirectory directory;
  const auto val = write(directory / "val.tar", val_tar({50000, 3, 1, 777}));
  const auto devkit = write(directory / "devkit.tar.gz", make_devkit());
  const auto stream = source("imagenet").open(Inputs{val, devkit}, "val");
  ASSERT_TRUE(stream->seekable());
  const Read all = read(*stream);
  for (const std::uint64_t index : {2, 0, 3, 1, 1}) {
    stream->seek(index);
    Sample sample;
    ASSERT_TRUE(stream->next(sample));
    EXPECT_EQ(sample.name, all[index].name);
    stream->give_back(sample.bytes);  // its pages are read again when touched
    EXPECT_EQ(as_text(sample.bytes), all[index].bytes);
  }
}

TEST(UnitImagenet, a_directory_of_everything_has_both_splits_and_the_boxes) {
  const TempDirectory directory;
  write(directory / "ILSVRC2012_img_train.tar", train_tar());
  write(directory / "ILSVRC2012_img_val.tar", val_tar({2, 1}));
  write(directory / "ILSVRC2012_devkit_t12.tar.gz", make_devkit());
  write(directory / "ILSVRC2012_img_test.tar", tar({{"ILSVRC2012_test_00000001.JPEG", "x"}}));
  write(directory / "synset_words.txt", "n01440764 tench");
  const fs::path boxes = directory / "bbox" / "n01440764";
  fs::create_directories(boxes);
  write(boxes / "n01440764_10.xml", make_annotation(100, 100, {{"n01440764", 10, 20, 30, 40}}));
  const Inputs inputs{directory.path()};
  EXPECT_EQ(source("imagenet").splits(inputs), (std::vector<std::string>{"train", "val"}));
  EXPECT_EQ(
      source("imagenet").files(inputs, "train"),
      (Inputs{directory / "ILSVRC2012_img_train.tar", directory / "ILSVRC2012_devkit_t12.tar.gz"}));
  EXPECT_EQ(read(inputs, "val").size(), 2U);
  const auto stream = source("imagenet").open(inputs, "train");
  std::map<std::string, std::size_t> count;
  for (Sample sample; stream->next(sample);) {
    count[std::string(sample.name)] = sample.boxes.size();
    if (!sample.boxes.empty()) {
      EXPECT_EQ(sample.boxes[0], (Box{0.1F, 0.2F, 0.3F, 0.4F}));
    }
  }
  EXPECT_EQ(count["n01440764/n01440764_10.JPEG"], 1U);
  EXPECT_EQ(count["n01440764/n01440764_2.JPEG"], 0U);
  EXPECT_NE(std::ranges::find(stream->info().notes, "3 of 4 images have no bounding box"),
            stream->info().notes.end());
}

TEST(UnitImagenet, boxes_that_are_given_twice_are_read_once) {
  const TempDirectory directory;
  write(directory / "ILSVRC2012_img_train.tar", train_tar());
  const Entries annotation = {
      {"n01440764/n01440764_10.xml", make_annotation(100, 100, {{"n01440764", 10, 20, 30, 40}})}};
  const auto boxes = write(directory / "boxes.tar", tar(annotation));
  const auto notes_of = [](const Inputs& inputs) {
    const auto stream = source("imagenet").open(inputs, "train");
    for (Sample sample; stream->next(sample);) {
    }
    return stream->info().notes;
  };
  EXPECT_EQ(source("imagenet").files(Inputs{directory.path(), boxes}, "train").size(), 2U);
  const std::vector<std::string> once = notes_of({directory.path()});
  EXPECT_EQ(notes_of({directory.path(), boxes}), once);
  write(directory / "more.tar", tar(annotation));
  const std::vector<std::string> twice = notes_of({directory.path()});
  ASSERT_EQ(twice.size(), once.size() + 1);
  EXPECT_EQ(twice.back(), "left out: 1 annotation after an image's first");
}

TEST(UnitImagenet, splits_are_those_that_the_inputs_hold) {
  const TempDirectory directory;
  EXPECT_EQ(source("imagenet").splits(Inputs{write(directory / "t.tar", train_tar())}),
            std::vector<std::string>{"train"});
  EXPECT_EQ(source("imagenet").splits(Inputs{write(directory / "v.tar", val_tar({1}))}),
            std::vector<std::string>{"val"});
}

TEST(UnitImagenet, what_a_mac_leaves_behind_is_counted_and_left_out) {
  const TempDirectory directory;
  const std::string one = tar({{"._n01440764_1.JPEG", "Mac OS X"},
                               {"./n01440764_1.JPEG", image(1)},
                               {".DS_Store", "Bud1"},
                               {"README.txt", "about this class"}});
  const auto file = write(directory / "train.tar",
                          tar({{"._n01440764.tar", "Mac OS X"}, {"x/n01440764.tar", one}}));
  const auto stream = source("imagenet").open(Inputs{file}, "train");
  EXPECT_EQ(read(*stream), (Read{{0, "n01440764/n01440764_1.JPEG", image(1)}}));
  EXPECT_EQ(stream->info().notes.back(), "left out: 4 files like .DS_Store, ._name and README");
}

TEST(UnitImagenet, a_class_without_images_is_noted) {
  const TempDirectory directory;
  const auto file = write(
      directory / "train.tar",
      tar({{"n01440764.tar", tar({{"n01440764_1.JPEG", image(1)}})}, {"n15075141.tar", tar({})}}));
  const auto stream = source("imagenet").open(Inputs{file}, "train");
  EXPECT_EQ(read(*stream).size(), 1U);
  EXPECT_EQ(stream->info().notes.back(), "class tars without images: 1, first n15075141");
}

// The published size promises the published number of images, before any of them is read.
TEST(UnitImagenet, a_tar_of_the_published_size_promises_the_published_images) {
  const TempDirectory directory;
  const auto file = write(directory / "train.tar", train_tar());
  fs::resize_file(file, 147'897'477'120);  // sparse: it takes no disk space
  EXPECT_EQ(source("imagenet").open(Inputs{file}, "train")->info().size, 1'281'167U);
}

TEST(InteropImagenet, the_genuine_training_images_are_read) {
  const auto file = data_file("imagenet/ILSVRC2012_img_train.tar");
  const auto devkit = data_file("imagenet/ILSVRC2012_devkit_t12.tar.gz");
  const auto boxes = data_file("imagenet/bbox_xml_transcribed");
  if (!file || !devkit || !boxes) GTEST_SKIP() << "ImageNet's archives are not on this machine";
  const auto stream = source("imagenet").open(Inputs{*file, *devkit, *boxes}, "train");
  std::size_t images = 0;
  for (Sample sample; stream->next(sample); ++images) {
    const auto& info = stream->info();
    EXPECT_TRUE(sample.name.starts_with(
        info.class_names.names[static_cast<std::size_t>(sample.label)] + "/n"));
    EXPECT_EQ(looks_like(sample.bytes), "JPEG");
  }
  EXPECT_EQ(images, 240U);
}

TEST(InteropImagenet, the_genuine_validation_images_have_the_labels_that_are_known) {
  const auto file = data_file("imagenet/ILSVRC2012_img_val.tar");
  const auto devkit = data_file("imagenet/ILSVRC2012_devkit_t12.tar.gz");
  const auto boxes = data_file("imagenet/bbox_xml_transcribed");
  if (!file || !devkit || !boxes) GTEST_SKIP() << "ImageNet's archives are not on this machine";
  const auto stream = source("imagenet").open(Inputs{*file, *devkit, *boxes}, "val");
  EXPECT_EQ(stream->info().size, 150U);
  std::string before;
  for (Sample sample; stream->next(sample);) {
    EXPECT_LT(before, sample.name);
    before = sample.name;
    if (sample.name == "ILSVRC2012_val_00000001.JPEG") {
      EXPECT_EQ(sample.label, 65);
      EXPECT_EQ(sample.boxes.size(), 1U);
    }
  }
}

}  // namespace
}  // namespace feedrate::converters
