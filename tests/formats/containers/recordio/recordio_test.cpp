#include <gtest/gtest.h>

#include "formats/base/text.h"
#include "formats/containers/recordio/image_record.h"
#include "formats/containers/recordio/record.h"
#include "formats/io/file.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"
#include "tests/support/killed_process.h"
#include "tests/support/partial_writes.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::add_examples;
using testing::Example;
using testing::expect_error;
using testing::files_of;
using testing::make_examples;
using testing::TempDirectory;
using testing::write_part;
using testing::write_with_a_kill;

const Container& recordio() { return container("recordio"); }

std::vector<std::string> audit(const fs::path& path) {
  std::vector<std::string> findings;
  open_dataset(path)->audit(
      [&](const Finding& finding) { findings.push_back(finding.place + ": " + finding.problem); });
  return findings;
}

// Expects one finding that contains these words.
void expect_finding(const fs::path& path, std::initializer_list<std::string_view> parts) {
  const std::vector<std::string> findings = audit(path);
  ASSERT_EQ(findings.size(), 1U) << path;
  for (const std::string_view part : parts) {
    EXPECT_NE(findings.front().find(part), std::string::npos) << findings.front();
  }
}

class UnitRecordio : public ::testing::Test {
 protected:
  WriterOptions sharded(std::uint32_t count) const {
    return {.codec = &png_codec, .sharding = {count, examples_.size()}};
  }
  fs::path written(std::uint32_t shards) {
    const fs::path set = temporary_ / join("set-", shards);
    write_part(recordio(), set, sharded(shards), examples_);
    return set;
  }
  void expect_examples(const fs::path& path, std::size_t begin, std::size_t end) {
    const auto dataset = open_dataset(path);
    ASSERT_EQ(dataset->size(), end - begin) << path;
    Scratch scratch;
    for (std::size_t i = begin; i < end; ++i) {
      const Sample sample = dataset->read(i - begin, scratch);
      EXPECT_EQ(sample.label, examples_[i].label);
      EXPECT_EQ(sample.name, examples_[i].name);
      EXPECT_EQ(testing::decode_sample(sample).pixels, examples_[i].image.pixels);
    }
  }

  TempDirectory temporary_;
  std::vector<Example> examples_ = make_examples({7, 5, 3}, 11, true);
};

class HostileRecordio : public UnitRecordio {};
class InteropRecordio : public UnitRecordio {};

TEST_F(UnitRecordio, shards_are_read_as_one_from_the_directory_or_any_of_them) {
  const fs::path set = written(4);
  for (const char* name : {"data-00000-of-00004.rec", "data-00003-of-00004.idx"}) {
    EXPECT_TRUE(fs::exists(set / name)) << name;
  }
  EXPECT_EQ(read_text(set / "data-00001-of-00004.idx").substr(0, 4), "2\t0\n") << "global ids";
  EXPECT_EQ(read_text(set / "data-00001-of-00004.lst").substr(0, 25),
            "2\t2.000000\tclass2/2.png\n3");
  expect_examples(set, 0, 11);
  expect_examples(set / "data-00002-of-00004.rec", 0, 11);
  EXPECT_TRUE(audit(set).empty());
}

TEST_F(UnitRecordio, a_lonely_shard_is_read_alone_unless_it_is_known_to_be_one_of_ours) {
  const fs::path set = written(4);
  fs::remove(set / "data-00000-of-00004.rec");
  expect_examples(set / "data-00001-of-00004.rec", 2, 5);
  expect_error([&] { open_dataset(set); }, {"3 of 4 shards", "data-00000-of-00004.rec"});
  write_sidecar(set, {});
  expect_error([&] { open_dataset(set / "data-00001-of-00004.rec"); }, {"3 of 4 shards"});
}

TEST_F(UnitRecordio, shards_without_samples_are_files_too) {
  examples_.resize(2);
  const fs::path set = written(5);
  EXPECT_EQ(std::distance(fs::directory_iterator(set), {}), 15);
  expect_examples(set, 0, 2);
}

TEST_F(UnitRecordio, parts_of_several_writers_are_the_files_of_one) {
  const auto whole = files_of(written(4));
  const Sharding sharding{4, examples_.size()};
  for (const std::uint32_t middle : {0U, 1U, 2U, 3U, 4U}) {
    const fs::path set = temporary_ / join("parts-", middle);
    WriterOptions first = sharded(4), second = sharded(4);
    first.last = second.first = sharding.begin(middle);
    if (middle != 0) write_part(recordio(), set, first, examples_);
    if (middle != 4) write_part(recordio(), set, second, examples_);
    EXPECT_EQ(files_of(set), whole) << middle;
  }
}

TEST_F(UnitRecordio, a_killed_writer_s_work_is_continued_to_the_same_bytes) {
  for (const std::uint32_t shards : {1U, 4U}) {
    const auto whole = files_of(written(shards));
    for (std::uint64_t paused = 0; paused <= 11; ++paused) {
      for (const std::uint64_t more : {0U, 1U, 2U, 5U, 12U}) {
        const fs::path set = temporary_ / "killed";
        fs::remove_all(set);
        write_with_a_kill(recordio(), set, sharded(shards), examples_, paused, more);
        EXPECT_EQ(files_of(set), whole) << shards << " " << paused << " " << more;
      }
    }
  }
}

TEST_F(UnitRecordio, killed_at_any_moment_it_is_continued_to_the_same_bytes) {
  examples_ = make_examples({40, 40, 3}, 900, true);
  const auto whole = files_of(written(3));
  for (const int patience : {300, 2000, 5000, 9000}) {
    const fs::path set = temporary_ / "killed";
    fs::remove_all(set);
    fs::create_directory(set);
    const WriterState state = testing::last_state_of_killed(
        [&](const testing::Tell& tell) {
          const auto writer = recordio().create(set, sharded(3));
          for (std::uint64_t i = 0; i < examples_.size(); i += 30) {
            tell(writer->pause());
            add_examples(*writer, png_codec, examples_, i, i + 30);
          }
          testing::kill_myself();
        },
        std::chrono::microseconds(patience));
    WriterOptions options = sharded(3);
    options.resume = &state;
    const auto writer = recordio().create(set, options);
    add_examples(*writer, png_codec, examples_, state.samples, examples_.size());
    writer->finish(nullptr);
    EXPECT_EQ(files_of(set), whole) << "after " << state.samples;
  }
}

TEST_F(HostileRecordio, a_shorter_file_than_was_paused_is_not_gone_on_with) {
  const fs::path set = temporary_ / "set";
  fs::create_directory(set);
  WriterState state{5, {{"data.rec", 400}, {"data.idx", 4}, {"data.lst", 4}}};
  WriterOptions options = sharded(1);
  options.resume = &state;
  expect_error([&] { recordio().create(set, options); }, {"data.rec", "No such file"});
  write_text(set / "data.rec", "short");
  expect_error([&] { recordio().create(set, options); },
               {"data.rec", "byte 400: the file has only 5"});
  state.files.pop_back();
  write_text(set / "data.rec", std::string(400, 'x'));
  write_text(set / "data.idx", "0\t0\n");
  expect_error([&] { recordio().create(set, options); }, {"the size of data.lst is unknown"});
}

TEST_F(UnitRecordio, several_labels_are_written_and_read) {
  const fs::path set = temporary_ / "set";
  fs::create_directory(set);
  const std::vector<float> several{3, 0.25F, 1e-9F, 16777216};
  {
    Buffer encoded;
    png_codec.encode(examples_[0].image, encoded);
    const auto writer = recordio().create(set, {});  // each brings its own codec
    Sample sample{.bytes = encoded, .codec = &png_codec, .shape = {7, 5, 3}, .label = 3};
    sample.labels = several;
    writer->add(sample);
    writer->finish(nullptr);
  }
  EXPECT_EQ(read_text(set / "data.lst"), "0\t3.000000\t0.25\t1e-09\t16777216.000000\t00000.png\n");
  const auto dataset = open_dataset(set);
  Scratch scratch;
  const Sample sample = dataset->read(0, scratch);
  EXPECT_EQ(sample.label, 3);
  EXPECT_EQ(std::vector<float>(sample.labels.begin(), sample.labels.end()), several);
  EXPECT_TRUE(audit(set).empty());
}

TEST_F(UnitRecordio, names_are_found_by_id_in_a_list_of_another_order_or_length) {
  const fs::path set = written(1);
  std::string list = "999\t0\tnobody.png\n";
  for (std::size_t i = 11; i-- > 0;) {
    list += join(" ", i, " \t ", examples_[i].label, " \t", examples_[i].name, " \r\n");
  }
  write_text(set / "data.lst", list);  // with blanks around the tabs
  expect_examples(set, 0, 11);
  expect_finding(set, {"data.lst", "lists 1 image that has no record", "id 999"});
}

TEST_F(UnitRecordio, an_index_is_made_anew_as_the_writer_makes_it) {
  const fs::path set = written(4);
  const auto whole = files_of(set);
  for (const auto& [name, content] : whole) {
    if (name.ends_with(".idx")) write_text(set / name, "nonsense");
  }
  fs::remove(set / "data-00002-of-00004.idx");
  EXPECT_EQ(recordio().write_index(set / "data-00001-of-00004.rec").size(), 4U);
  EXPECT_EQ(files_of(set), whole);
  expect_error([&] { container("lmdb").write_index(set); }, {"lmdb", "needs no index"});
}

TEST_F(UnitRecordio, records_that_their_ids_do_not_tell_apart_are_numbered) {
  Buffer file;
  for (const char* payload : {"short", "the same id, the same id", "the same id, the same id"}) {
    frame_record({}, as_bytes(payload), [&](Bytes piece) { append(file, piece); });
  }
  const fs::path records = temporary_ / "some.rec";
  write_text(records, as_text(file));
  recordio().write_index(records);
  EXPECT_EQ(read_text(temporary_ / "some.idx"), "0\t0\n1\t16\n2\t48\n");
  write_text(records, as_text(Bytes(file).first(20)));
  expect_error([&] { recordio().write_index(records); }, {"some.rec", "record 1: byte 16"});
  EXPECT_EQ(read_text(temporary_ / "some.idx").size(), 14U) << "the old one stays";
}

// What InsightFace's RecBuilder writes: images from id 1 on, then a record without image for each
// person, then the one of id 0 that describes them.
TEST_F(InteropRecordio, insightface_s_ranges_of_ids_are_no_images) {
  Buffer file;
  std::string index;
  const auto put = [&](std::uint64_t id, std::int32_t label, std::vector<float> labels,
                       Bytes image) {
    Sample sample;
    sample.label = label;
    sample.labels = labels;
    Buffer head;
    write_image_head(sample, id, head);
    index += join(id, "\t", file.size(), "\n");
    frame_record(head, image, [&](Bytes piece) { append(file, piece); });
  };
  for (std::uint64_t id = 1; id <= 4; ++id) {
    Buffer image;
    png_codec.encode(examples_[id].image, image);
    put(id, static_cast<std::int32_t>(id / 3), {}, image);
  }
  put(5, 0, {1, 3}, {});
  put(6, 0, {3, 5}, {});
  put(0, 0, {5, 7}, {});
  const fs::path records = temporary_ / "train.rec";
  write_text(records, as_text(file));
  for (const bool indexed : {false, true}) {
    if (indexed) write_text(temporary_ / "train.idx", index);
    const auto dataset = open_dataset(temporary_.path());
    ASSERT_EQ(dataset->size(), 4U);
    Scratch scratch;
    for (std::uint64_t i = 0; i < 4; ++i) {
      const Sample sample = dataset->read(i, scratch);
      EXPECT_EQ(sample.label, static_cast<std::int32_t>((i + 1) / 3));
      EXPECT_EQ(testing::decode_sample(sample).pixels, examples_[i + 1].image.pixels);
    }
    EXPECT_TRUE(audit(temporary_.path()).empty());
  }
}

TEST_F(HostileRecordio, a_directory_of_several_datasets_wants_a_name) {
  const fs::path set = written(1);
  fs::copy_file(set / "data.rec", set / "more.rec");
  expect_error([&] { open_dataset(set); }, {"several datasets", "data.rec, more.rec"});
  expect_examples(set / "data.rec", 0, 11);
}

TEST_F(HostileRecordio, what_index_and_list_say_wrongly_is_found) {
  const fs::path set = written(1);
  EXPECT_TRUE(audit(set).empty());
  const std::string index = read_text(set / "data.idx"), list = read_text(set / "data.lst");
  const std::size_t third = index.find("\n2\t") + 1, fourth = index.find("\n3\t") + 1;
  write_text(set / "data.idx", index.substr(0, third) + index.substr(fourth));
  expect_finding(set, {"data.idx", "does not name 1 of 11 records"});
  const auto inside = parse_number<std::uint64_t>(index.substr(third + 2, fourth - third - 3));
  write_text(set / "data.idx", index + join("11\t", *inside + 8, "\n"));
  expect_finding(set, {"data.idx", "names 1 places where no record starts, the first at byte "});
  write_text(set / "data.idx", index.substr(0, third) + "1" + index.substr(third + 1));
  expect_finding(set, {"data.idx", "one id to several records"});
  write_text(set / "data.idx", index);

  const std::size_t label = list.find("\n4\t4.000000") + 3;
  write_text(set / "data.lst", list.substr(0, label) + "5" + list.substr(label + 1));
  expect_finding(set, {"data.rec: record 4", "labels", "id 4"});
  write_text(set / "data.lst", list + "no line of a list\n");
  expect_finding(set, {"data.lst: line 12", "is not a tab-separated id"});
  write_text(set / "data.lst", list + "3\t3\tagain.png\n");
  expect_finding(set, {"data.lst", "several lines for the id 3"});
}

TEST_F(HostileRecordio, ids_that_two_shards_share_are_found) {
  const fs::path set = written(4);
  for (const char* extension : {".rec", ".idx", ".lst"}) {
    fs::copy_file(set / join("data-00001-of-00004", extension),
                  set / join("data-00002-of-00004", extension),
                  fs::copy_options::overwrite_existing);
  }
  const std::vector<std::string> findings = audit(set);
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_NE(findings[0].find("2 records have the id 2"), std::string::npos) << findings[0];
}

TEST_F(HostileRecordio, bytes_between_records_are_found) {
  const fs::path set = written(1);
  Buffer file;
  read_file(set / "data.rec", file);
  append(file, as_bytes("waste at its end"));
  write_text(set / "data.rec", as_text(file));
  expect_finding(set, {"data.rec", "record 11", "no record starts here"});
}

TEST_F(HostileRecordio, images_and_names_that_do_not_fit_are_refused) {
  const fs::path set = temporary_ / "set";
  examples_[3].name = "tab\there.png";
  expect_error([&] { write_part(recordio(), set, sharded(1), examples_); },
               {"data.rec", "sample 3", "tab"});
  examples_[3].name = "fine.png";
  examples_[3].label = (1 << 24) + 1;
  fs::remove_all(set);
  expect_error([&] { write_part(recordio(), set, sharded(1), examples_); },
               {"data.rec", "sample 3", "16777217"});
}

// ---- files of other tools ----

constexpr const char* absent = "the vectors of other tools are not on this machine (FEEDRATE_DATA)";

TEST_F(InteropRecordio, a_detection_set_of_im2rec_has_boxes_and_all_its_labels) {
  const auto vectors = testing::data_file("vectors/mxnet_recordio/det-multilabel");
  if (!vectors) GTEST_SKIP() << absent;
  const auto dataset = open_dataset(*vectors);
  ASSERT_EQ(dataset->size(), 4U);
  EXPECT_EQ(dataset->info().codec, "jpeg");
  Scratch scratch;
  for (std::uint64_t i = 0; i < 4; ++i) {
    const Sample sample = dataset->read(i, scratch);
    EXPECT_EQ(sample.shape, (Shape{576, 768, 3}));
    EXPECT_EQ(sample.label, 0);
    EXPECT_EQ(sample.labels.size(), 19U);
    EXPECT_EQ(sample.name, "dog.jpg");
    ASSERT_EQ(sample.boxes.size(), 3U);
    EXPECT_NEAR(sample.boxes[2].xmin, 0.625, 1e-6);
    EXPECT_FLOAT_EQ(sample.boxes[0].ymax, 0.9201389F);
  }
  EXPECT_TRUE(audit(*vectors).empty());
}

TEST_F(InteropRecordio, a_set_of_im2rec_without_index_stands_an_audit) {
  const auto vectors = testing::data_file("vectors/mxnet_recordio/facedetect");
  if (!vectors) GTEST_SKIP() << absent;
  const auto dataset = open_dataset(*vectors);
  ASSERT_EQ(dataset->size(), 1632U);
  Scratch scratch;
  EXPECT_EQ(dataset->read(0, scratch).name, "0/1597.jpg");
  EXPECT_EQ(dataset->read(1631, scratch).shape, (Shape{64, 64, 3}));
  EXPECT_TRUE(audit(*vectors).empty());
}

}  // namespace
}  // namespace feedrate::formats
