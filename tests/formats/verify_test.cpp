#include "formats/verify.h"

#include <gtest/gtest.h>

#include "formats/file.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate {
namespace {

using testing::Example;
using testing::make_examples;
using testing::TempDirectory;
using testing::write_dataset;

class UnitVerify : public ::testing::Test {
 protected:
  // Writes ten samples with a sidecar that tells the truth, except for what `change` does to it.
  template <class Change>
  Verification verified(const std::vector<Example>& examples, const Change& change) {
    write_dataset(container("recordio"), png_codec, temporary_ / "set", examples);
    Sidecar sidecar;
    sidecar.count = examples.size();
    sidecar.classes = 10;
    sidecar.shape = examples.front().image.shape;
    sidecar.codec = "png";
    sidecar.digest = verify(*open_dataset(temporary_ / "set"), 1).digest.digest;
    change(sidecar);
    write_sidecar(temporary_ / "set", sidecar);
    return verify(*open_dataset(temporary_ / "set"), 2);
  }

  static void expect_finding(const Verification& result, std::string_view part) {
    ASSERT_FALSE(result.findings.empty());
    EXPECT_NE(result.findings.front().problem.find(part), std::string::npos)
        << result.findings.front().problem;
  }

  TempDirectory temporary_;
};

TEST_F(UnitVerify, a_sound_dataset_has_no_findings_and_is_counted) {
  const Verification result = verified(make_examples({8, 8, 1}, 25), [](Sidecar&) {});
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.samples, 25U);
  EXPECT_EQ(result.class_counts, (std::vector<std::uint64_t>{3, 3, 3, 3, 3, 2, 2, 2, 2, 2}));
  EXPECT_EQ(result.shapes, (std::vector<Shape>{{8, 8, 1}}));
  EXPECT_EQ(result.sample_digests.size(), 25U);
}

TEST_F(UnitVerify, every_thread_count_gives_the_same_answer_and_full_progress) {
  write_dataset(container("lmdb"), raw_codec, temporary_ / "set", make_examples({8, 8, 1}, 1000));
  const auto dataset = open_dataset(temporary_ / "set");
  const Verification reference = verify(*dataset, 1);
  for (const unsigned threads : {2U, 7U}) {
    std::uint64_t last = 0;
    const Verification result = verify(*dataset, threads, [&](std::uint64_t done, std::uint64_t) {
      EXPECT_GT(done, last);
      last = done;
    });
    EXPECT_EQ(last, 1000U);
    EXPECT_EQ(result.digest.digest, reference.digest.digest);
    EXPECT_EQ(result.class_counts, reference.class_counts);
  }
}

TEST_F(UnitVerify, a_count_that_is_not_the_sidecar_s_is_found) {
  expect_finding(verified(make_examples({8, 8, 1}, 5), [](Sidecar& s) { s.count = 6; }),
                 "states 6 samples, found 5");
}

TEST_F(UnitVerify, a_digest_that_is_not_the_sidecar_s_is_found) {
  expect_finding(verified(make_examples({8, 8, 1}, 5), [](Sidecar& s) { s.digest = "00"; }),
                 "states the digest 00, found ");
}

TEST_F(UnitVerify, a_label_beyond_the_sidecar_s_classes_is_found) {
  const Verification result =
      verified(make_examples({8, 8, 1}, 5), [](Sidecar& s) { s.classes = 3; });
  EXPECT_EQ(result.findings.size(), 2U);
  EXPECT_EQ(result.findings.front().place, "sample 3");
  EXPECT_EQ(result.samples, 3U);
  expect_finding(result, "the label 3 is not below the 3 classes");
}

TEST_F(UnitVerify, a_negative_label_is_found) {
  std::vector<Example> examples = make_examples({8, 8, 1}, 3);
  examples[1].label = -7;
  expect_finding(verified(examples, [](Sidecar&) {}), "the label -7 is negative");
}

TEST_F(UnitVerify, another_shape_than_the_sidecar_s_is_found) {
  std::vector<Example> examples = make_examples({8, 8, 1}, 3);
  examples.push_back(make_examples({8, 9, 1}, 1).front());
  const Verification result = verified(examples, [](Sidecar&) {});
  EXPECT_EQ(result.shapes, (std::vector<Shape>{{8, 8, 1}, {8, 9, 1}}));
  expect_finding(result, "the image is 8x9x1");
}

}  // namespace
}  // namespace feedrate
