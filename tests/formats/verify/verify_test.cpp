#include "formats/verify/verify.h"

#include <gtest/gtest.h>

#include "formats/means/mean_format.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using testing::Example;
using testing::make_examples;
using testing::TempDirectory;
using testing::write_dataset;

class UnitVerify : public ::testing::Test {
 protected:
  // Writes ten samples with a sidecar that is correct except for what `change` does to it.
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
    return verify(*open_as_found(temporary_ / "set"), 2);
  }

  Verification verify(const std::vector<Example>& examples, unsigned threads) {
    write_dataset(container("recordio"), png_codec, temporary_ / "set", examples);
    return feedrate::formats::verify(*open_as_found(temporary_ / "set"), threads);
  }
  static Verification verify(const Dataset& dataset, unsigned threads,
                             const ProgressCallback& progress = {}) {
    return feedrate::formats::verify(dataset, threads, progress);
  }
  void fresh() const { temporary_.clear(); }

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
  EXPECT_EQ(result.findings.front().place, "sample 3 (00003.png)");
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

TEST_F(UnitVerify, class_counts_and_digests_that_are_not_the_sidecar_s_are_found) {
  const auto examples = make_examples({8, 8, 1}, 5);
  expect_finding(verified(examples,
                          [](Sidecar& s) {
                            s.class_counts = {1, 1, 2, 1, 1};
                          }),
                 "states 2 samples of class 2, found 1");
  fresh();
  expect_finding(verified(examples, [](Sidecar& s) { s.set_digest = "00"; }),
                 "states the set digest 00, found ");
  fresh();
  expect_finding(verified(examples, [](Sidecar& s) { s.bytes_digest = "00"; }),
                 "states the digest of the stored bytes 00, found ");
}

TEST_F(UnitVerify, the_digest_of_the_stored_bytes_is_that_of_its_definition) {
  const auto examples = make_examples({8, 8, 3}, 600);
  std::vector<StoredDigest> stored;
  Buffer png;
  for (const Example& example : examples) {
    png_codec.encode(example.image, png);
    stored.push_back(stored_digest(example.label, png));
  }
  write_dataset(container("recordio"), png_codec, temporary_ / "set", examples);
  for (const unsigned threads : {1U, 5U}) {
    EXPECT_EQ(verify(*open_dataset(temporary_ / "set"), threads).bytes_digest,
              ordered_digest(stored));
  }
}

TEST_F(UnitVerify, mixed_codecs_are_no_finding_where_the_sidecar_says_so) {
  EXPECT_TRUE(verified(make_examples({8, 8, 1}, 5), [](Sidecar& s) {
                s.codec = "mixed";
              }).findings.empty());
  fresh();
  expect_finding(verified(make_examples({8, 8, 1}, 5), [](Sidecar& s) { s.codec = "jpeg"; }),
                 "the image is png, feedrate.json says jpeg");
}

TEST_F(UnitVerify, images_that_repeat_are_noted_those_with_two_labels_first) {
  std::vector<Example> examples = make_examples({8, 8, 1}, 30);
  examples[7].image = examples[3].image;
  examples[7].label = examples[3].label;
  examples[29].image = examples[12].image;
  const Verification result = verified(examples, [](Sidecar&) {});
  EXPECT_TRUE(result.findings.empty());
  ASSERT_EQ(result.notes.size(), 2U);
  EXPECT_EQ(result.notes[0].place, "samples 12 (00012.png) and 29 (00029.png)");
  EXPECT_EQ(result.notes[0].problem, "hold the same image with different labels: 2, 9");
  EXPECT_EQ(result.notes[1].place, "samples 3 (00003.png) and 7 (00007.png)");
  EXPECT_EQ(result.notes[1].problem, "hold the same image, of class 3");
}

TEST_F(UnitVerify, many_repeats_are_counted_and_a_few_named) {
  std::vector<Example> examples = make_examples({8, 8, 1}, 60);
  for (std::size_t i = 30; i < 60; ++i) examples[i] = examples[i - 30];
  for (std::size_t i = 0; i < 60; i += 6) examples[i] = examples[0];
  const Verification result = verified(examples, [](Sidecar&) {});
  ASSERT_EQ(result.notes.size(), 21U);
  EXPECT_NE(result.notes[0].place.find(" and 5 more"), std::string::npos);
  EXPECT_EQ(result.notes[20].problem,
            "and 6 more such groups; in all, 34 samples hold the image of an earlier one");
}

TEST_F(UnitVerify, names_that_two_samples_have_are_found) {
  std::vector<Example> examples = make_examples({8, 8, 1}, 30, true);
  examples[21].name = examples[4].name;
  const Verification result = verified(examples, [](Sidecar&) {});
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].place, "samples 4 and 21");
  EXPECT_EQ(result.findings[0].problem, "have the same name 'class4/4.png'");
}

TEST_F(UnitVerify, file_names_without_directories_may_repeat) {
  std::vector<Example> examples = make_examples({8, 8, 1}, 30, true);
  for (Example& example : examples) example.name = example.name.substr(example.name.rfind('/') + 1);
  examples[21].name = examples[4].name;
  const Verification result = verified(examples, [](Sidecar&) {});
  EXPECT_TRUE(result.findings.empty());
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_EQ(result.notes[0].problem,
            "some names occur more than once ('4.png'): without directories, they are not keys");
}

TEST_F(UnitVerify, names_that_nearly_all_samples_share_are_no_keys) {
  std::vector<Example> examples = make_examples({8, 8, 1}, 30, true);
  for (std::size_t i = 5; i < 30; ++i) examples[i].name = "image.png";
  const Verification result = verified(examples, [](Sidecar&) {});
  EXPECT_TRUE(result.findings.empty());
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_NE(result.notes[0].problem.find("('image.png'): they are not keys"), std::string::npos);
}

TEST_F(UnitVerify, a_mean_image_beside_the_dataset_must_fit) {
  const auto examples = make_examples({8, 8, 1}, 5);
  write_dataset(container("recordio"), png_codec, temporary_ / "set", examples);
  const auto found = [&] { return verify(*open_dataset(temporary_ / "set"), 1).findings; };
  const auto file = temporary_ / "set/mean.nd";
  write_mean(file, {{8, 8, 1}, std::vector<double>(64)});
  EXPECT_TRUE(found().empty());
  write_mean(file, {{8, 9, 1}, std::vector<double>(72)});
  ASSERT_EQ(found().size(), 1U);
  EXPECT_EQ(found()[0].place, file.string());
  EXPECT_EQ(found()[0].problem, "the mean is 8x9x1, images are 8x8x1");
  std::filesystem::resize_file(file, 100);
  ASSERT_EQ(found().size(), 1U);
  EXPECT_NE(found()[0].problem.find("ends inside the values"), std::string::npos);
}

TEST_F(UnitVerify, a_mean_for_images_of_several_sizes_must_have_their_channels) {
  auto examples = make_examples({8, 8, 3}, 2);
  examples.push_back(make_examples({9, 8, 1}, 1).front());
  write_dataset(container("recordio"), png_codec, temporary_ / "set", examples);
  write_mean(temporary_ / "set/mean.nd", {{4, 4, 3}, std::vector<double>(48)});
  EXPECT_TRUE(verify(*open_dataset(temporary_ / "set"), 1).findings.empty());
  write_mean(temporary_ / "set/mean.nd", {{4, 4, 1}, std::vector<double>(16)});
  EXPECT_EQ(verify(*open_dataset(temporary_ / "set"), 1).findings.size(), 1U);
}

TEST_F(UnitVerify, what_an_audit_finds_is_a_finding_though_every_sample_is_sound) {
  class Audited final : public Dataset {
   public:
    explicit Audited(const Dataset& whole) : whole_(whole) { info_ = whole.info(); }
    Sample read(std::uint64_t index, Scratch& scratch) const override {
      return whole_.read(index, scratch);
    }
    void audit(const std::function<void(Finding)>& found) const override {
      found({"data.idx, line 3", "points between two records"});
    }

   private:
    const Dataset& whole_;
  };
  write_dataset(container("recordio"), png_codec, temporary_ / "set", make_examples({8, 8, 1}, 5));
  const auto whole = open_dataset(temporary_ / "set");
  const Verification result = verify(Audited(*whole), 1);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].place, "data.idx, line 3");
  EXPECT_EQ(result.samples, 5U);
  EXPECT_FALSE(result.digest.digest.empty());
}

TEST_F(UnitVerify, of_very_many_findings_the_first_are_told_and_the_rest_counted) {
  std::vector<Example> examples = make_examples({2, 2, 1}, 3000);
  for (std::size_t i = 100; i < examples.size(); ++i) examples[i].label = -1;
  for (const unsigned threads : {1U, 4U}) {
    fresh();
    const Verification result = verify(examples, threads);
    ASSERT_EQ(result.findings.size(), max_findings + 1);
    EXPECT_EQ(result.findings[0].place, "sample 100 (00100.png)");
    EXPECT_EQ(result.findings[max_findings - 1].place, "sample 1099 (01099.png)");
    EXPECT_EQ(result.findings.back().problem, "and 1900 more samples with a finding");
  }
}

}  // namespace
}  // namespace feedrate::formats
