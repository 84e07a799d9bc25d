// Parquet and MDS, which are only read: whatever is loaded or converted from them is what comes from
// RecordIO of the same samples, for any rank, from any position and after a kill.

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "formats/codec.h"
#include "tests/converters/pack_mds.h"
#include "tests/support/make_mds.h"
#include "tests/support/make_parquet.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"

namespace feedrate::tools {
namespace {

using namespace formats;
using namespace testing;
namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint32_t rows_in_all = 90;

std::string jpeg(std::uint32_t number) {
  Buffer encoded;
  jpeg_codec.encode(make_image({30, 31, 3}, number), encoded);
  return std::string(as_text(encoded));
}

// In an order other than that of their labels' numbers.
std::string text_of(std::uint32_t number) { return join("class ", 6 - number % 7); }

void make_parquet_set(const fs::path& directory, bool text_labels) {
  fs::create_directories(directory);
  for (std::uint32_t shard = 0; shard < 3; ++shard) {
    std::vector<ParquetRow> rows;
    for (std::uint32_t i = shard; i < rows_in_all; i += 3) {
      rows.push_back({jpeg(i), i % 7, "", text_of(i)});
    }
    const Buffer file = make_parquet(rows, {.text_labels = text_labels, .rows_a_group = 10});
    std::ofstream(directory / join("train-0000", shard, "-of-00003.parquet"), std::ios::binary)
        << as_text(file);
  }
}

void make_mds_set(const fs::path& directory, MdsLabels labels) {
  std::vector<std::vector<MdsRow>> shards(3);
  for (std::uint32_t i = 0; i < rows_in_all; ++i) {
    shards[i / 31].push_back({jpeg(i), i % 7, text_of(i)});
  }
  make_mds(directory, shards, labels);
}

void make_parquet_numbers(const fs::path& directory) { make_parquet_set(directory, false); }
void make_parquet_texts(const fs::path& directory) { make_parquet_set(directory, true); }
void make_mds_numbers(const fs::path& directory) { make_mds_set(directory, MdsLabels::numbers); }
void make_mds_texts(const fs::path& directory) { make_mds_set(directory, MdsLabels::texts); }
void make_packed_mds_numbers(const fs::path& directory) {
  make_mds_numbers(directory);
  pack_mds(directory);
}
void make_packed_mds_texts(const fs::path& directory) {
  make_mds_texts(directory);
  pack_mds(directory);
}

struct Format {
  std::string name;
  void (*make)(const fs::path& directory);
};

// GoogleTest would print addresses into the name of the test.
void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }

class CommandsConvertedFormats : public ::testing::TestWithParam<Format> {
 protected:
  void SetUp() override {
    GetParam().make(directory_ / "data");
    run({"convert", "dataset", data_, "--to", "recordio", "--shards", "4", "--out", plain_});
  }
  static Said run(const std::vector<std::string>& words) {
    Said said = feedrate(words);
    EXPECT_EQ(said.code, 0) << said.errors;
    return said;
  }
  static std::string digest(const std::string& path, std::vector<std::string> words) {
    words.insert(words.begin(), {"load", path, "--batch", "8", "--json"});
    return json::parse(run(words).output).at("digest");
  }
  // The files of two datasets but for the sidecar, which tells how it was made.
  void expect_same_files(const fs::path& one, const fs::path& other) const {
    int files = 0;
    for (const auto& entry : fs::directory_iterator(one)) {
      if (entry.path().extension() != ".rec") continue;
      EXPECT_EQ(slurp(entry.path()), slurp(other / entry.path().filename())) << entry.path();
      ++files;
    }
    EXPECT_EQ(files, 4);
  }

  TempDirectory directory_;
  std::string data_ = (directory_ / "data").string();
  std::string plain_ = (directory_ / "plain").string();
};

class CommandsReadOnlyFormats : public CommandsConvertedFormats {};

TEST_P(CommandsReadOnlyFormats, ranks_and_later_starts_load_what_they_load_from_recordio) {
  const std::vector<std::vector<std::string>> ways{
      {},
      {"--threads", "3", "--epochs", "2"},
      {"--rank", "0", "--ranks", "2", "--last", "drop"},
      {"--rank", "1", "--ranks", "2", "--last", "drop"},
      {"--from", "1:24", "--epochs", "3"},
      {"--from", "0:24", "--rank", "1", "--ranks", "3", "--last", "wrap"}};
  std::set<std::string> all;
  for (const std::vector<std::string>& way : ways) {
    const std::string found = digest(data_, way);
    EXPECT_EQ(found, digest(plain_, way));
    all.insert(found);
  }
  EXPECT_EQ(all.size(), ways.size() - 1) << "each loads something else, but for more epochs";
}

TEST_P(CommandsConvertedFormats, parts_of_a_conversion_join_to_the_whole) {
  const std::string out = (directory_ / "parts").string();
  for (const char* part : {"2/2", "1/2"}) {
    run({"convert", "dataset", data_, "--to", "recordio", "--shards", "4", "--part", part, "--out",
         out});
  }
  run({"convert", "--join", out});
  expect_same_files(plain_, out);
}

TEST_P(CommandsConvertedFormats, a_conversion_that_was_stopped_goes_on) {
  const std::string out = (directory_ / "stopped").string();
  const std::vector<std::string> words{"convert",  "dataset", data_,   "--to", "recordio",
                                       "--shards", "4",       "--out", out};
  Started started(program_under_test(), words);
  while (!fs::exists(out + ".partial") && !fs::exists(out)) usleep(200);
  started.send(SIGTERM);
  started.finish();
  if (fs::exists(out)) fs::remove_all(out);  // it was faster than the signal
  std::vector<std::string> again = words;
  again.emplace_back("--resume");
  run(again);
  expect_same_files(plain_, out);
}

TEST_P(CommandsConvertedFormats, texts_stay_the_names_of_their_classes) {
  const json facts = json::parse(run({"inspect", plain_, "--json"}).output);
  if (GetParam().name.find("texts") == std::string::npos) {
    EXPECT_TRUE(facts.at("class_names").empty()) << facts;
    return;
  }
  const json names = {"class 0", "class 1", "class 2", "class 3", "class 4", "class 5", "class 6"};
  EXPECT_EQ(facts.at("class_names"), names);
  const auto dataset = open_dataset(plain_);
  Scratch scratch;
  const bool is_parquet = GetParam().name.starts_with("parquet");
  for (std::uint64_t i = 0; i < dataset->size(); ++i) {
    const std::uint64_t number =
        is_parquet ? i / 30 + i % 30 * 3 : i;  // Parquet's shards take turns
    EXPECT_EQ(dataset->read(i, scratch).label, 6 - static_cast<int>(number % 7)) << i;
  }
}

TEST(CommandsPackedMds, are_converted_as_their_unpacked_shards_are_and_not_loaded) {
  const TempDirectory directory;
  make_mds_texts(directory / "whole");
  make_packed_mds_texts(directory / "data");
  const auto convert = [&](std::vector<std::string> words, const std::string& to) {
    words.insert(words.begin(), {"convert", "dataset"});
    words.insert(words.end(), {"--to", "recordio", "--shuffle", "3", "--resize", "short:20",
                               "--out", (directory / to).string()});
    const Said said = feedrate(words);
    EXPECT_EQ(said.code, 0) << said.errors;
    return slurp(directory / to / "data.rec");
  };
  const std::string expected = convert({(directory / "whole").string()}, "a");
  EXPECT_EQ(convert({(directory / "data").string()}, "b"), expected);
  EXPECT_EQ(convert({(directory / "data" / "index.json").string()}, "c"), expected);
  const Said refused = feedrate({"load", (directory / "data").string()});
  EXPECT_EQ(refused.code, 1);
  for (const char* words : {"shard.00000.mds.zstd", "zstd:3", "feedrate convert dataset"}) {
    EXPECT_NE(refused.errors.find(words), std::string::npos) << refused.errors;
  }
}

INSTANTIATE_TEST_SUITE_P(, CommandsReadOnlyFormats,
                         ::testing::Values(Format{"parquet", make_parquet_numbers},
                                           Format{"parquet_texts", make_parquet_texts},
                                           Format{"mds", make_mds_numbers},
                                           Format{"mds_texts", make_mds_texts}),
                         [](const auto& format) { return format.param.name; });
INSTANTIATE_TEST_SUITE_P(, CommandsConvertedFormats,
                         ::testing::Values(Format{"parquet", make_parquet_numbers},
                                           Format{"parquet_texts", make_parquet_texts},
                                           Format{"mds", make_mds_numbers},
                                           Format{"mds_texts", make_mds_texts},
                                           Format{"packed_mds", make_packed_mds_numbers},
                                           Format{"packed_mds_texts", make_packed_mds_texts}),
                         [](const auto& format) { return format.param.name; });

// Rows whose image or label is bad are told and counted, at any number of threads and ranks and by any
// command, and spoil no other row.
constexpr std::uint32_t rows_with_bad = 60;
const std::map<std::uint32_t, std::string> bad_rows = {
    {3, "truncated"}, {17, "0 bytes"}, {30, "label"}, {44, "the label -5 is negative"}};

std::string image_of_row(std::uint32_t row) {
  Buffer encoded;
  jpeg_codec.encode(make_image({16, 17, 3}, row), encoded);
  if (row == 3) encoded.resize(encoded.size() / 2);
  if (row == 17) encoded.clear();
  return std::string(as_text(encoded));
}

std::int64_t label_of_row(std::uint32_t row) {
  if (row == 44) return -5;
  return row == 30 ? std::int64_t{1} << 40 : std::int64_t{row % 7};
}

void make_bad_parquet(const fs::path& directory, const ParquetWays& ways) {
  fs::create_directories(directory);
  for (std::uint32_t shard = 0; shard < 2; ++shard) {
    std::vector<ParquetRow> rows;
    for (std::uint32_t i = shard * 30; i < shard * 30 + 30; ++i) {
      rows.push_back({.image = image_of_row(i), .label = label_of_row(i), .labelled = i != 30});
    }
    std::ofstream(directory / join("train-0000", shard, "-of-00002.parquet"), std::ios::binary)
        << as_text(make_parquet(rows, ways));
  }
}

void make_plain_parquet(const fs::path& directory) {
  make_bad_parquet(directory, {.optional_labels = true, .rows_a_group = 7});
}
void make_packed_parquet(const fs::path& directory) {
  make_bad_parquet(directory, {.codec = 6, .dictionary = true, .optional_labels = true});
}
void make_plain_mds(const fs::path& directory) {
  std::vector<std::vector<MdsRow>> shards(2);
  for (std::uint32_t i = 0; i < rows_with_bad; ++i) {
    shards[i / 30].push_back({image_of_row(i), label_of_row(i)});
  }
  make_mds(directory, shards);
}
void make_packed_mds(const fs::path& directory) {
  make_plain_mds(directory);
  pack_mds(directory);
}

class CommandsBadRows : public ::testing::TestWithParam<Format> {
 protected:
  void SetUp() override { GetParam().make(directory_ / "data"); }

  /// Returns the digest of an epoch without the bad samples, and adds what is said of each to `told`, by its index.
  std::string load(std::vector<std::string> words, std::map<std::uint32_t, std::string>& told) {
    const std::string list = (directory_ / "list").string();
    words.insert(words.begin(), {"load", data_, "--batch", "8", "--json", "--on-bad", "skip",
                                 "--quarantine", list});
    const Said said = feedrate(words);
    EXPECT_EQ(said.code, 0) << said.errors;
    std::ifstream lines(list);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream columns(line);
      std::string file, offset, index, key, reason;
      for (std::string* each : {&file, &offset, &index, &key}) std::getline(columns, *each, '\t');
      std::getline(columns, reason);
      EXPECT_NE(offset, "0") << line;
      told[static_cast<std::uint32_t>(std::stoul(index))] = reason;
    }
    return json::parse(said.output).at("digest");
  }
  static void expect_the_bad(const std::map<std::uint32_t, std::string>& told) {
    ASSERT_EQ(told.size(), bad_rows.size());
    for (const auto& [row, reason] : bad_rows) {
      EXPECT_NE(told.at(row).find(reason), std::string::npos) << row << ": " << told.at(row);
    }
  }

  TempDirectory directory_;
  std::string data_ = (directory_ / "data").string();
};

class CommandsLoadedBadRows : public CommandsBadRows {};

TEST_P(CommandsLoadedBadRows, are_told_alike_at_any_threads_and_ranks_and_from_any_position) {
  std::set<std::string> digests;
  for (const char* threads : {"0", "1", "3"}) {
    std::map<std::uint32_t, std::string> told;
    digests.insert(load({"--threads", threads}, told));
    expect_the_bad(told);
  }
  EXPECT_EQ(digests.size(), 1U);
  std::map<std::uint32_t, std::string> by_ranks, later;
  load({"--ranks", "2", "--rank", "0"}, by_ranks);
  load({"--ranks", "2", "--rank", "1"}, by_ranks);
  expect_the_bad(by_ranks);
  load({"--from", "0:24", "--no-shuffle"}, later);
  EXPECT_EQ(later.size(), 2U) << "those of rows 30 and 44";
}

TEST_P(CommandsLoadedBadRows, are_found_by_verify) {
  const Said said = feedrate({"verify", data_, "--json"});
  EXPECT_EQ(said.code, 1);
  std::map<std::uint32_t, std::string> told;
  const json verified = json::parse(said.output);
  for (const json& finding : verified.at("findings")) {
    const std::string place = finding.at("place"), problem = finding.at("problem");
    told[static_cast<std::uint32_t>(std::stoul(place.substr(place.find(' '))))] = problem;
  }
  expect_the_bad(told);
}

TEST_P(CommandsBadRows, are_left_out_of_a_conversion_or_end_it) {
  const std::string out = (directory_ / "out").string();
  const std::vector<std::string> words{"convert",  "dataset", data_, "--to",
                                       "tfrecord", "--out",   out};
  const Said refused = feedrate(words);
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.errors.find("sample 3: "), std::string::npos) << refused.errors;
  EXPECT_FALSE(fs::exists(out));
  std::vector<std::string> skipping = words;
  skipping.insert(skipping.end(), {"--on-bad", "skip", "--json"});
  const Said made = feedrate(skipping);
  ASSERT_EQ(made.code, 0) << made.errors;
  const json split = json::parse(made.output).at("splits").at(0);
  EXPECT_EQ(split.at("skipped"), bad_rows.size());
  EXPECT_EQ(split.at("samples"), rows_with_bad - bad_rows.size());
  for (const auto& [row, reason] : bad_rows) {
    EXPECT_NE(made.errors.find(join("left out: sample ", row, ": ")), std::string::npos)
        << made.errors;
  }
  EXPECT_EQ(feedrate({"verify", out}).code, 0);
}

INSTANTIATE_TEST_SUITE_P(, CommandsLoadedBadRows,
                         ::testing::Values(Format{"parquet", make_plain_parquet},
                                           Format{"packed_parquet", make_packed_parquet},
                                           Format{"mds", make_plain_mds}),
                         [](const auto& format) { return format.param.name; });
INSTANTIATE_TEST_SUITE_P(, CommandsBadRows,
                         ::testing::Values(Format{"parquet", make_plain_parquet},
                                           Format{"packed_parquet", make_packed_parquet},
                                           Format{"mds", make_plain_mds},
                                           Format{"packed_mds", make_packed_mds}),
                         [](const auto& format) { return format.param.name; });

}  // namespace
}  // namespace feedrate::tools
