// Files that other tools wrote.

#include <gtest/gtest.h>

#include "formats/io/file.h"
#include "formats/verify/verify.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::data_file;
using testing::decode_sample;
using testing::expect_error;
using testing::TempDirectory;

class InteropVectors : public ::testing::Test {
 protected:
  // A writable copy of a vector (an LMDB's lock file is written to), or an empty path.
  fs::path vector(std::string_view name) {
    const std::optional<fs::path> original = data_file(join("vectors/", name));
    if (!original) return {};
    // Not fs::copy, which makes directories as read-only as the originals may be.
    const fs::path copy = temporary_ / "copy";
    for (const auto& entry : fs::recursive_directory_iterator(*original)) {
      if (!entry.is_regular_file()) continue;
      const fs::path to = copy / fs::relative(entry.path(), *original);
      fs::create_directories(to.parent_path());
      fs::copy_file(entry.path(), to);
      fs::permissions(to, fs::perms::owner_write, fs::perm_options::add);
    }
    return copy;
  }

  TempDirectory temporary_;
};

constexpr const char* absent = "the vectors of other tools are not on this machine (FEEDRATE_DATA)";

double mean_of(const Image& image, std::size_t channel) {
  double sum = 0;
  for (std::size_t i = channel; i < image.pixels.size(); i += 3) {
    sum += std::to_integer<int>(image.pixels[i]);
  }
  return sum / static_cast<double>(image.pixels.size() / 3);
}

TEST_F(InteropVectors, an_lmdb_of_convert_imageset_has_names_labels_and_blue_first) {
  const fs::path set = vector("caffe_lmdb/caffestart-test-8x256");
  if (set.empty()) GTEST_SKIP() << absent;
  const auto dataset = open_dataset(set);
  EXPECT_EQ(dataset->info().codec, "raw");
  EXPECT_EQ(dataset->info().shape, (Shape{256, 256, 3}));
  ASSERT_EQ(dataset->size(), 8U);
  Scratch scratch;
  for (std::uint64_t i = 0; i < 8; ++i) {
    const Sample sample = dataset->read(i, scratch);
    EXPECT_EQ(sample.label, i < 4 ? 0 : 1);
    EXPECT_FALSE(sample.name.empty());
    EXPECT_EQ(sample.order, PixelOrder::planar_bgr);
  }
  const Image red_car = decode_sample(dataset->read(6, scratch));
  EXPECT_GT(mean_of(red_car, 0), mean_of(red_car, 2) + 10) << "the red car is red";
}

TEST_F(InteropVectors, small_lmdbs_of_caffe_verify_without_findings) {
  const fs::path set = vector("caffe_lmdb/minicaffe-test-380x32");
  if (set.empty()) GTEST_SKIP() << absent;
  const Verification result = verify(*open_dataset(set), 2);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.samples, 380U);
  EXPECT_EQ(result.shapes, (std::vector<Shape>{{32, 32, 3}}));
}

TEST_F(InteropVectors, lmdbs_of_caffe_stand_an_audit_of_their_pages_and_names) {
  for (const char* name :
       {"caffestart-test-8x256", "minicaffe-test-380x32", "authorship-test-17x28"}) {
    const fs::path set = vector(join("caffe_lmdb/", name));
    if (set.empty()) GTEST_SKIP() << absent;
    open_dataset(set)->audit([&](const Finding& finding) {
      ADD_FAILURE() << name << ": " << finding.place << ": " << finding.problem;
    });
    fs::remove_all(set);
  }
}

TEST_F(InteropVectors, datums_without_field_7_are_raw) {
  const fs::path set = vector("caffe_lmdb/authorship-test-17x28");
  if (set.empty()) GTEST_SKIP() << absent;
  const auto dataset = open_dataset(set);
  EXPECT_EQ(dataset->info().codec, "raw");
  EXPECT_EQ(dataset->info().shape, (Shape{28, 28, 3}));
  EXPECT_EQ(verify(*dataset, 1).samples, 17U);
}

TEST_F(InteropVectors, an_lmdb_of_another_tool_is_refused) {
  const fs::path set = vector("lmdb_plain/tensorflow-io");
  if (set.empty()) GTEST_SKIP() << absent;
  expect_error([&] { open_dataset(set); }, {"data.mdb", "key '0'", "neither a Caffe Datum"});
}

TEST_F(InteropVectors, a_rec_of_im2rec_without_idx_is_scanned_and_its_jpegs_decode) {
  const fs::path set = vector("mxnet_recordio/facedetect");
  if (set.empty()) GTEST_SKIP() << absent;
  const auto dataset = open_dataset(set / "train.rec");
  EXPECT_EQ(dataset->size(), 1632U);
  EXPECT_EQ(dataset->info().codec, "jpeg");
  const Verification result = verify(*dataset, 2);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.samples, 1632U);
  EXPECT_EQ(result.shapes, (std::vector<Shape>{{64, 64, 3}}));
}

TEST_F(InteropVectors, a_rec_with_idx_and_many_labels_is_counted) {
  const fs::path set = vector("mxnet_recordio/det-multilabel");
  if (set.empty()) GTEST_SKIP() << absent;
  EXPECT_EQ(open_dataset(set / "val.rec")->size(), 4U);
}

TEST_F(InteropVectors, records_that_hold_no_images_are_refused) {
  const fs::path set = vector("mxnet_recordio");
  if (set.empty()) GTEST_SKIP() << absent;
  expect_error([&] { open_dataset(set / "sagemaker-protobuf-not-images/val.rec"); },
               {"val.rec", "sample 0 (byte 0)", "not an image record"});
  expect_error([&] { open_dataset(set / "dmlc-core/sample.rec"); },
               {"sample.rec", "sample 0", "no codec knows", "310a310a"});
}

TEST_F(InteropVectors, cntk_s_own_map_files_are_understood_up_to_the_missing_images) {
  const fs::path set = vector("cntk");
  if (set.empty()) GTEST_SKIP() << absent;
  expect_error([&] { open_dataset(set / "potato_train_map.txt"); },
               {"line 1", "./train/normal_potato/np0000.jpg", "No such file"});
  expect_error([&] { open_dataset(set / "ImageReaderSimple_map.txt"); }, {"line 1", "black.jpg"});
}

TEST_F(InteropVectors, cntk_s_own_map_of_a_zip_is_refused) {
  const fs::path set = vector("cntk");
  if (set.empty()) GTEST_SKIP() << absent;
  expect_error([&] { open_dataset(set / "ImageReaderZip_map.txt"); },
               {"ImageReaderZip_map.txt: line 1", "images\\simple.zip@\\chunk0\\black.jpg",
                "inside a ZIP archive are not read"});
}

}  // namespace
}  // namespace feedrate::formats
