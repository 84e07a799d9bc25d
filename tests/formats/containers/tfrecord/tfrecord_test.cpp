#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <map>

#include "formats/containers/shards.h"
#include "formats/containers/tfrecord/tf_record.h"
#include "formats/containers/tfrecord/tfrecord_index.h"
#include "formats/containers/tfrecord/tfrecord_shard.h"
#include "formats/io/file.h"
#include "formats/io/gzip.h"
#include "formats/io/mapped_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::decode_sample;
using testing::Example;
using testing::expect_error;
using testing::make_examples;
using testing::TempDirectory;

using Files = std::map<std::string, std::string>;

Files files_of(const fs::path& directory) {
  Files files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    files[entry.path().filename().string()] = read_text(entry.path());
  }
  return files;
}

std::vector<std::string> names_of(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& [name, content] : files_of(directory)) names.push_back(name);
  return names;
}

std::vector<Finding> findings_of(const Dataset& dataset) {
  std::vector<Finding> findings;
  dataset.audit([&](Finding finding) { findings.push_back(std::move(finding)); });
  return findings;
}

void overwrite(const fs::path& file, std::string_view content) {
  OutputFile output(file);
  output.write(content);
  output.close();
}

class UnitTfrecord : public ::testing::Test {
 protected:
  UnitTfrecord() {
    options_.codec = &png_codec;
    for (const Example& example : examples_) {
      png_codec.encode(example.image, encoded_.emplace_back());
    }
  }

  void add(Writer& writer, std::size_t index) const {
    Sample sample;
    sample.bytes = encoded_[index];
    sample.codec = &png_codec;
    sample.shape = examples_[index].image.shape;
    sample.label = examples_[index].label;
    sample.name = examples_[index].name;
    writer.add(sample);
  }

  // Writes samples first … last of the examples into a directory that may exist already.
  void write(const fs::path& directory, const WriterOptions& options, std::size_t first,
             std::size_t last) const {
    fs::create_directories(directory);
    const auto writer = container("tfrecord").create(directory, options);
    for (std::size_t i = first; i < last; ++i) add(*writer, i);
    writer->finish(nullptr);
  }
  fs::path write(const char* name, const WriterOptions& options) const {
    write(temporary_ / name, options, 0, examples_.size());
    return temporary_ / name;
  }
  WriterOptions sharded(std::uint32_t count) const {
    WriterOptions options = options_;
    options.sharding = {count, examples_.size()};
    return options;
  }

  void expect_all(const Dataset& dataset) const {
    ASSERT_EQ(dataset.size(), examples_.size());
    Scratch scratch;
    for (std::size_t i = 0; i < examples_.size(); ++i) {
      const Sample sample = dataset.read(i, scratch);
      EXPECT_EQ(sample.label, examples_[i].label);
      EXPECT_EQ(sample.name, examples_[i].name);
      EXPECT_EQ(decode_sample(sample).pixels, examples_[i].image.pixels);
    }
  }

  TempDirectory temporary_;
  std::vector<Example> examples_ = make_examples({6, 5, 3}, 11, true);
  std::vector<Buffer> encoded_;
  WriterOptions options_;
};
using HostileTfrecord = UnitTfrecord;

TEST_F(UnitTfrecord, shards_are_named_as_tensorflow_s_tools_expect) {
  EXPECT_EQ(names_of(write("one", options_)),
            (std::vector<std::string>{"train-00000-of-00001", "train-00000-of-00001.idx"}));
  WriterOptions options = sharded(2);
  options.split = "val";
  EXPECT_EQ(
      names_of(write("two", options)),
      (std::vector<std::string>{"validation-00000-of-00002", "validation-00000-of-00002.idx",
                                "validation-00001-of-00002", "validation-00001-of-00002.idx"}));
  options.gzip = true;
  options.split = "test";
  EXPECT_EQ(names_of(write("gzip", options)),
            (std::vector<std::string>{"test-00000-of-00002.gz", "test-00001-of-00002.gz"}));
}

TEST_F(UnitTfrecord, the_index_says_where_each_record_lies_with_its_frame) {
  const fs::path set = write("set", options_);
  const MappedFile records(set / "train-00000-of-00001");
  std::string expected;
  for (std::uint64_t at = 0; at < records.bytes().size();) {
    const std::uint64_t end =
        tf_record_end(records.bytes().subspan(at), at, records.bytes().size());
    expected += std::to_string(at) + " " + std::to_string(end - at) + "\n";
    at = end;
  }
  EXPECT_EQ(read_text(set / "train-00000-of-00001.idx"), expected);
  EXPECT_TRUE(findings_of(*open_dataset(set)).empty());
}

TEST_F(UnitTfrecord, any_number_of_shards_holds_the_same_samples) {
  for (const std::uint32_t count : {1U, 2U, 3U, 11U, 16U}) {  // the last leaves some empty
    const std::string name = "of" + std::to_string(count);
    write(temporary_ / name, sharded(count), 0, examples_.size());
    expect_all(*open_dataset(temporary_ / name));
    const std::string last = ShardName{.stem = "train", .shard = count - 1, .count = count}.text();
    expect_all(*open_dataset(temporary_ / name / last));  // one shard leads to its set
  }
}

TEST_F(UnitTfrecord, gzip_shards_come_back) {
  WriterOptions options = sharded(3);
  options.gzip = true;
  const fs::path set = write("set", options);
  expect_all(*open_dataset(set));
  expect_all(*open_dataset(set / "train-00001-of-00003.gz"));
  EXPECT_TRUE(findings_of(*open_dataset(set)).empty());
}

TEST_F(UnitTfrecord, parts_together_are_the_same_files_as_one_run) {
  for (const bool gzip : {false, true}) {
    WriterOptions options = sharded(5);
    options.gzip = gzip;
    const Files whole = files_of(write(gzip ? "whole.gz" : "whole", options));
    const fs::path joined = temporary_ / (gzip ? "joined.gz" : "joined");
    for (std::uint32_t part = 0; part < 3; ++part) {
      WriterOptions partial = options;
      partial.first = options.sharding.begin(5 * part / 3);
      partial.last = options.sharding.begin(5 * (part + 1) / 3);
      write(joined, partial, partial.first, partial.last);
    }
    EXPECT_EQ(files_of(joined), whole);
  }
}

// Kills a writer that had paused at `done` samples and went on to `reached`.
TEST_F(UnitTfrecord, a_killed_writer_s_work_is_continued_to_the_same_bytes) {
  for (const bool gzip : {false, true}) {
    WriterOptions options = sharded(3);
    options.gzip = gzip;
    const Files whole = files_of(write(gzip ? "whole.gz" : "whole", options));
    for (std::size_t done = 0; done <= examples_.size(); ++done) {
      for (const std::size_t reached : {done, done + 1, done + 5, examples_.size() + 1}) {
        const fs::path set = temporary_ / "killed";
        fs::remove_all(set);
        fs::create_directory(set);
        auto writer = container("tfrecord").create(set, options);
        for (std::size_t i = 0; i < done; ++i) add(*writer, i);
        const WriterState state = writer->pause();
        EXPECT_EQ(state.samples, done);
        for (std::size_t i = done; i < std::min(reached, examples_.size()); ++i) add(*writer, i);
        if (reached > examples_.size()) writer->finish(nullptr);
        writer.reset();
        for (const auto& [name, size] : state.files) {
          if (!fs::exists(set / name)) continue;  // packed by now
          EXPECT_GE(fs::file_size(set / name), size);
          std::ofstream(set / name, std::ios::app) << "half a record";
        }
        WriterOptions resumed = options;
        resumed.resume = &state;
        write(set, resumed, done, examples_.size());
        EXPECT_EQ(files_of(set), whole) << "from " << done << ", killed at " << reached;
      }
    }
  }
}

TEST_F(UnitTfrecord, classes_of_imagenet_count_from_one_in_the_records_only) {
  WriterOptions options = options_;
  for (int i = 0; i < 10; ++i) options.classes.names.push_back("n0000000" + std::to_string(i));
  const fs::path set = write("set", options);
  EXPECT_FALSE(fs::exists(set / "labels.txt"));
  const auto dataset = open_dataset(set);
  Scratch scratch;
  for (std::size_t i = 0; i < examples_.size(); ++i) {
    const Sample sample = dataset->read(i, scratch);
    EXPECT_EQ(sample.label, examples_[i].label);
    EXPECT_EQ(sample.name, fs::path(examples_[i].name).filename().string());
  }
  EXPECT_EQ(count_classes(*dataset), 10U);
}

TEST_F(UnitTfrecord, names_of_other_classes_stand_in_labels_txt) {
  WriterOptions options = options_;
  for (int i = 0; i < 10; ++i) options.classes.names.push_back("kind: " + std::to_string(i));
  const fs::path set = write("set", options);
  EXPECT_TRUE(read_text(set / "labels.txt").starts_with("0:kind: 0\n1:kind: 1\n"));
  const auto dataset = open_dataset(set);
  EXPECT_EQ(dataset->info().class_names.names, options.classes.names);
  EXPECT_EQ(dataset->info().classes, 10U);
  expect_all(*dataset);
  overwrite(set / "labels.txt", "cat\ndog\n");  // another tool's
  EXPECT_TRUE(open_dataset(set)->info().class_names.names.empty());
}

TEST_F(UnitTfrecord, a_shard_alone_is_read_alone_unless_it_was_ours) {
  const fs::path set = write("set", sharded(4));
  fs::remove(set / "train-00001-of-00004");
  expect_error([&] { open_dataset(set); }, {"3 of 4 shards", "missing: train-00001-of-00004"});
  EXPECT_EQ(open_dataset(set / "train-00003-of-00004")->size(), 3U);
  write_sidecar(set, {});
  expect_error([&] { open_dataset(set / "train-00003-of-00004"); },
               {"missing: train-00001-of-00004"});
}

TEST_F(UnitTfrecord, files_of_any_name_are_known_by_their_first_bytes) {
  const fs::path set = write("set", options_);
  WriterOptions gzip = options_;
  gzip.gzip = true;
  const fs::path packed = write("packed", gzip);
  fs::rename(set / "train-00000-of-00001", set / "numbers");
  expect_all(*open_dataset(set / "numbers"));
  fs::rename(packed / "train-00000-of-00001.gz", set / "packed");
  expect_all(*open_dataset(set / "packed"));
  fs::copy_file(set / "numbers", set / "a.tfrecords");
  fs::remove(set / "train-00000-of-00001.idx");
  expect_all(*open_dataset(set));
  fs::copy_file(set / "numbers", set / "b.tfrecord");
  expect_error([&] { open_dataset(set); },
               {"several datasets", "name one: a.tfrecords, b.tfrecord"});
}

TEST_F(UnitTfrecord, an_index_that_cannot_be_is_not_used_and_audited) {
  const fs::path set = write("set", options_);
  const fs::path index = set / "train-00000-of-00001.idx";
  const std::string sound = read_text(index);
  for (const std::string& content :
       {std::string(), std::string("nonsense"), sound.substr(0, sound.size() / 2), sound + "1 2\n",
        "0 17\n" + sound}) {
    overwrite(index, content);
    const auto dataset = open_dataset(set);
    expect_all(*dataset);
    const std::vector<Finding> findings = findings_of(*dataset);
    ASSERT_EQ(findings.size(), 1U) << content;
    EXPECT_EQ(findings[0].place, index.string());
  }
  fs::remove(index);
  EXPECT_TRUE(findings_of(*open_dataset(set)).empty());
}

TEST_F(HostileTfrecord, an_index_of_another_file_is_noticed_where_it_goes_wrong) {
  const fs::path set = write("set", options_);
  const fs::path index = set / "train-00000-of-00001.idx";
  const auto starts = read_tfrecord_index(index, fs::file_size(set / "train-00000-of-00001"));
  std::string moved;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    const std::uint64_t start = starts[i] + (i == 4 ? 3 : 0);
    append_tfrecord_index_line(start, starts[i + 1] + (i == 3 ? 3 : 0) - start, moved);
  }
  overwrite(index, moved);
  const auto dataset = open_dataset(set);
  Scratch scratch;
  dataset->read(2, scratch);
  expect_error([&] { dataset->read(3, scratch); },
               {"train-00000-of-00001", "sample 3", "does the .idx belong"});
  expect_error([&] { dataset->read(4, scratch); }, {"sample 4 (record 4, byte ", "corrupted"});
  const std::vector<Finding> findings = findings_of(*dataset);
  ASSERT_FALSE(findings.empty());
  EXPECT_NE(findings[0].problem.find("line 4"), std::string::npos) << findings[0].problem;
}

TEST_F(HostileTfrecord, damage_behind_a_good_index_is_a_finding_of_the_audit) {
  const fs::path set = write("set", options_);
  const fs::path records = set / "train-00000-of-00001";
  std::string content = read_text(records);
  const auto starts = read_tfrecord_index(set / "train-00000-of-00001.idx", content.size());
  content[starts[5]] ^= 1;  // in the length of record 5
  overwrite(records, content);
  const std::vector<Finding> findings = findings_of(*open_dataset(set));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].place, records.string());
  EXPECT_NE(findings[0].problem.find("record 5: byte " + std::to_string(starts[5])),
            std::string::npos)
      << findings[0].problem;
}

TEST_F(UnitTfrecord, a_first_record_whose_length_looks_like_gzip_or_zlib_is_read) {
  examples_.resize(1);
  for (const std::uint64_t wanted : {0x8b1fU, 0x9c78U}) {  // their first two bytes, as a length
    std::uint64_t length = 0;
    examples_[0].name.assign(wanted - 1000, 'x');
    for (int round = 0; round < 2; ++round) {
      examples_[0].name.append(length == 0 ? 0 : wanted - length, 'x');
      fs::remove_all(temporary_ / "set");
      const fs::path set = write("set", options_);
      length = load_le<std::uint64_t>(MappedFile(set / "train-00000-of-00001").bytes().data());
    }
    ASSERT_EQ(length, wanted);
    expect_all(*open_dataset(temporary_ / "set"));
    EXPECT_TRUE(container("tfrecord").knows(temporary_ / "set" / "train-00000-of-00001"));
  }
}

TEST_F(UnitTfrecord, zlib_files_are_read) {
  const std::string plain = read_text(write("plain", options_) / "train-00000-of-00001");
  std::string packed(compressBound(plain.size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(plain.data()), plain.size());
  fs::create_directory(temporary_ / "zlib");
  overwrite(temporary_ / "zlib/train.tfrecord.zz", packed.substr(0, size));
  expect_all(*open_dataset(temporary_ / "zlib"));
}

TEST_F(HostileTfrecord, bytes_behind_the_last_record_are_named) {
  const fs::path set = write("set", options_);
  const fs::path records = set / "train-00000-of-00001";
  const auto size = std::to_string(fs::file_size(records));
  std::ofstream(records, std::ios::app) << "more";
  expect_error([&] { open_dataset(set); }, {records.string(), "record 11", "byte " + size});
}

TEST_F(HostileTfrecord, gzip_beyond_the_memory_limit_says_what_to_do) {
  WriterOptions options = options_;
  options.gzip = true;
  const fs::path file = write("set", options) / "train-00000-of-00001.gz";
  const std::uint64_t needed = fs::file_size(write("plain", options_) / "train-00000-of-00001");
  MemoryBudget enough(needed);
  EXPECT_EQ(TfrecordShard(file, enough).records(), examples_.size());
  EXPECT_FALSE(enough.take(1));
  MemoryBudget too_little(needed - 1);
  expect_error([&] { TfrecordShard(file, too_little); }, {file.string(), "memory", "gunzip"});
}

TEST_F(HostileTfrecord, damaged_or_foreign_compression_is_named) {
  WriterOptions options = options_;
  options.gzip = true;
  const fs::path file = write("set", options) / "train-00000-of-00001.gz";
  std::string content = read_text(file);
  content[content.size() - 6] ^= 1;  // in the CRC
  overwrite(file, content);
  expect_error([&] { open_dataset(file); }, {file.string(), "gzip data is damaged"});
  overwrite(file, content.substr(0, content.size() / 2));
  expect_error([&] { open_dataset(file); }, {file.string(), "cut off"});
  overwrite(file, "\x78\x9c zlib");
  expect_error([&] { open_dataset(file); }, {file.string(), "the zlib data is damaged"});
  overwrite(file, "something else altogether");
  expect_error([&] { open_dataset(file); }, {"record 0: byte 0", "is it a TFRecord file"});
  overwrite(file, "");
  expect_error([&] { open_dataset(file); }, {file.string(), "holds no records"});
}

TEST_F(HostileTfrecord, what_cannot_be_written_is_refused_with_its_place) {
  WriterOptions options = options_;
  options.classes.names = {"one\nline"};
  expect_error([&] { write("set", options); }, {"labels.txt", "line end"});
  examples_[3].label = -1;
  expect_error([&] { write("set", options_); }, {"train-00000-of-00001", "sample 3", "label -1"});
  options = sharded(4);
  options.sharding.samples = 5;
  examples_[3].label = 3;
  expect_error([&] { write("set", options); }, {"more samples than the 5"});
  const WriterState state{3, {}};
  options_.resume = &state;
  expect_error([&] { write("set", options_); }, {"the size of train-00000-of-00001 is unknown"});
}

}  // namespace
}  // namespace feedrate::formats
