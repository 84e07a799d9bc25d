// Each row of `feedrate help sources`: the archives that `synth` makes, and others where it makes
// none, are read by the row's commands as a reading of our own expects.

#include "tools/program/cli/topics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "converters/archive.h"
#include "converters/downloads/guide.h"
#include "converters/imagenet/imagenet_files.h"
#include "converters/synth.h"
#include "formats/dataset.h"
#include "formats/digests/digest.h"
#include "tests/converters/make_archive.h"
#include "tests/converters/make_devkit.h"
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

// A shard of each row, as the Hub has them, but smaller.
void make_hub(const fs::path& directory) {
  fs::create_directory(directory / "data");
  const std::map<std::string, std::int64_t> splits{
      {"train", 294}, {"validation", 14}, {"test", 28}};
  for (const auto& [split, shards] : splits) {
    for (std::int64_t shard = 0; shard < shards; ++shard) {
      const std::int64_t label = split == "test" ? -1 : shard % 9;
      const Buffer file = make_parquet({{jpeg(static_cast<std::uint32_t>(shard)), label}});
      write(directory / "data" / fmt::format("{}-{:05}-of-{:05}.parquet", split, shard, shards),
            std::string(as_text(file)));
    }
  }
}

// Files of a row, where its commands look for them.
void make_files(const SourceGuide& guide, const fs::path& directory) {
  if (guide.synth.empty()) {
    make_hub(directory);
    make_mds(directory / "mds", {{{jpeg(1), 0}, {jpeg(2), 1}}, {{jpeg(3), 0}}});
    return;
  }
  const bool fetched = guide.files == "fetched";  // by the row's own first command
  const fs::path made = directory / (fetched ? "archives" : "made");
  converters::make_archives(converters::synth(guide.synth), made, {.images = 120});
  if (fetched) return;
  for (const auto& file : fs::directory_iterator(made)) {
    fs::rename(file.path(), directory / file.path().filename());
  }
}

// `unzip -j ZIP ENTRY`, without unzip.
void unzip(const fs::path& directory, const std::string& command) {
  std::smatch words;
  ASSERT_TRUE(std::regex_match(command, words, std::regex("unzip -j (\\S+) (\\S+)"))) << command;
  converters::Archive archive(directory / words[1].str());
  while (archive.next()) {
    if (archive.name() != words[2].str()) continue;
    Buffer content;
    archive.read_all(content, std::uint64_t{1} << 30);
    write(directory / fs::path(words[2].str()).filename(), std::string(as_text(content)));
    return;
  }
  FAIL() << command << ": no such entry";
}

void run_commands(const SourceGuide& guide, const fs::path& directory) {
  int converted = 0;
  for (const std::string_view command : guide.commands) {
    if (command.starts_with("unzip ")) unzip(directory, std::string(command));
    const bool ours =
        command.starts_with("feedrate convert ") || command.starts_with("feedrate load ");
    if (!ours) continue;  // a download
    const Said said =
        run_program("/bin/sh", {"-c", join("cd '", directory.string(), "' && '",
                                           program_under_test(), "'", command.substr(8))});
    EXPECT_EQ(said.code, 0) << command << ": " << said.errors;
    ++converted;
  }
  EXPECT_GT(converted, 0) << guide.name;
}

using Samples = std::multiset<std::string>;  // class, name without directories, digest of the bytes

std::string sample_text(std::string_view class_name, std::string_view name, Bytes bytes) {
  return join(class_name, " ", converters::base_name(name), " ", hex(sha256(bytes)));
}

Samples converted(const fs::path& dataset_path) {
  const auto dataset = open_dataset(dataset_path);
  const auto& classes = dataset->info().class_names.names;
  Samples all;
  Scratch scratch;
  for (std::uint64_t i = 0; i < dataset->size(); ++i) {
    const Sample sample = dataset->read(i, scratch);
    const auto label = static_cast<std::size_t>(sample.label);
    all.insert(sample_text(classes.at(label), sample.name, sample.bytes));
  }
  return all;
}

// The entries of an archive whose names begin with `prefix`.
Entries entries_of(const fs::path& file, std::string_view prefix) {
  Entries all;
  converters::Archive archive(file);
  Buffer content;
  while (archive.next()) {
    if (!archive.name().starts_with(prefix)) continue;
    archive.read_all(content, std::uint64_t{1} << 30);
    all.emplace_back(archive.name().substr(prefix.size()), as_text(content));
  }
  return all;
}

// What an archive publishes as one split, by a rule that the test states for each layout.
struct Published {
  std::string_view archive;
  std::string_view prefix;   // of the images' paths
  std::regex image;          // of the rest: its first group is the class or, with `list`, the image
  std::string_view list;     // an entry: the class follows the image's name; empty: none
  std::string_view dataset;  // where the row's commands leave it
};

Samples published(const fs::path& directory, const Published& split) {
  std::map<std::string, std::string> classes;
  if (!split.list.empty()) {
    const std::string list = entries_of(directory / split.archive, split.list).at(0).second;
    const std::regex line("([^,\t\n]+)[,\t]([^ \t\n]+)");
    for (std::sregex_iterator at(list.begin(), list.end(), line), end; at != end; ++at) {
      classes[(*at)[1]] = (*at)[2];
    }
  }
  Samples all;
  for (const auto& [name, content] : entries_of(directory / split.archive, split.prefix)) {
    std::smatch found;
    if (!std::regex_match(name, found, split.image)) continue;
    const std::string& key = found[1];
    all.insert(sample_text(split.list.empty() ? key : classes.at(key), name, as_bytes(content)));
  }
  return all;
}

const std::multimap<std::string_view, Published> layouts = {
    {"imagenet-kaggle",
     {"imagenet-object-localization-challenge.zip", "ILSVRC/Data/CLS-LOC/train/",
      std::regex("(n\\d{8})/n\\d{8}_\\d+\\.JPEG"), "", "imagenet/train"}},
    {"imagenet-kaggle",
     {"imagenet-object-localization-challenge.zip", "ILSVRC/Data/CLS-LOC/val/",
      std::regex("(ILSVRC2012_val_\\d{8})\\.JPEG"), "LOC_val_solution.csv", "imagenet/val"}},
    {"tiny-imagenet",
     {"tiny-imagenet-200.zip", "tiny-imagenet-200/train/",
      std::regex("(n\\d{8})/images/n\\d{8}_\\d+\\.JPEG"), "", "tiny/train"}},
    {"tiny-imagenet",
     {"tiny-imagenet-200.zip", "tiny-imagenet-200/val/", std::regex("images/(val_\\d+\\.JPEG)"),
      "tiny-imagenet-200/val/val_annotations.txt", "tiny/val"}},
    {"imagenette",
     {"imagenette2.tgz", "imagenette2/train/", std::regex("(n\\d{8})/n\\d{8}_\\d+\\.JPEG"), "",
      "imagenette/train"}},
    {"imagenette",
     {"imagenette2.tgz", "imagenette2/val/", std::regex("(n\\d{8})/n\\d{8}_\\d+\\.JPEG"), "",
      "imagenette/val"}},
    {"places365",
     {"places365standard_easyformat.tar", "places365_standard/train/",
      std::regex("(\\w+)/\\d{8}\\.jpg"), "", "places/train"}},
    {"places365",
     {"places365standard_easyformat.tar", "places365_standard/val/",
      std::regex("(\\w+)/Places365_val_\\d{8}\\.jpg"), "", "places/val"}},
    {"inaturalist",
     {"train.tar.gz", "train/", std::regex("(\\d{5}_\\w+)/[0-9a-f-]{36}\\.jpg"), "",
      "inaturalist/train"}},
    {"inaturalist",
     {"val.tar.gz", "val/", std::regex("(\\d{5}_\\w+)/[0-9a-f-]{36}\\.jpg"), "",
      "inaturalist/val"}}};

TEST(CommandsHelpSources, every_row_reads_the_files_that_it_names) {
  for (const SourceGuide& guide : converters::source_guides()) {
    const TempDirectory directory;
    make_files(guide, directory.path());
    run_commands(guide, directory.path());
    const auto [begin, end] = layouts.equal_range(guide.synth);
    for (auto split = begin; split != end; ++split) {
      const Samples expected = published(directory.path(), split->second);
      EXPECT_GE(expected.size(), 2U) << split->second.dataset;
      EXPECT_EQ(converted(directory / split->second.dataset), expected) << split->second.dataset;
    }
  }
}

TEST(CommandsHelpSources, every_made_dataset_is_that_of_a_row) {
  std::set<std::string_view> made, rows;
  for (const auto* synth : converters::synths()) made.insert(synth->name());
  for (const SourceGuide& guide : converters::source_guides()) {
    if (!guide.synth.empty()) rows.insert(guide.synth);
  }
  EXPECT_EQ(made, rows);
}

// The same thousand classes and images as image-net.org and as Kaggle pack them.
TEST(CommandsHelpSources, kaggles_imagenet_has_the_digests_of_the_official_tars) {
  const TempDirectory directory;
  Entries tars, zipped;
  const std::string root = "ILSVRC/Data/CLS-LOC/";
  std::string list = "ImageId,PredictionString\n";
  for (std::uint32_t label = 0; label < formats::imagenet_classes; ++label) {
    const std::string& wnid = formats::imagenet_wnids()[label];
    const std::string name = wnid + "_7.JPEG";
    tars.emplace_back(wnid + ".tar", tar({{name, jpeg(label)}}));
    zipped.emplace_back(join(root, "train/", wnid, "/", name), jpeg(label));
  }
  Entries val;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string id = join("ILSVRC2012_val_0000000", i + 1);
    val.emplace_back(id + ".JPEG", jpeg(static_cast<std::uint32_t>(2000 + i)));
    zipped.emplace_back(root + "val/" + val.back().first, val.back().second);
    const auto label = static_cast<std::size_t>(made_val_label(i));
    list += join(id, ",", formats::imagenet_wnids()[label], " 1 2 3 4 \n");
  }
  const fs::path tars_in = directory / "official";
  fs::create_directory(tars_in);
  write(tars_in / "ILSVRC2012_img_train.tar", tar(tars));
  write(tars_in / "ILSVRC2012_img_val.tar", tar(val));
  write(tars_in / "ILSVRC2012_devkit_t12.tar.gz", make_devkit());
  write(directory / "kaggle.zip", make_archive(zipped, {ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE}));
  write(directory / "list.csv", list);
  for (const std::string split : {"train", "val"}) {
    const auto convert = [&](std::vector<std::string> words, const std::string& to) {
      words.insert(words.begin(), "convert");
      words.insert(words.end(),
                   {"--split", split, "--to", "recordio", "--out", (directory / to).string()});
      const Said said = testing::feedrate(words);
      EXPECT_EQ(said.code, 0) << said.errors;
      return open_dataset(directory / to)->info().sidecar.value();
    };
    std::vector<std::string> kaggle{"folder", (directory / "kaggle.zip").string()};
    if (split == "val") {
      kaggle.insert(kaggle.end(), {"--labels", (directory / "list.csv").string()});
    }
    const Sidecar official = convert({"imagenet", tars_in.string()}, split),
                  other = convert(kaggle, split + "-kaggle");
    EXPECT_EQ(official.digest, other.digest);
    EXPECT_EQ(official.bytes_digest, other.bytes_digest);
    EXPECT_FALSE(official.bytes_digest.empty());
    EXPECT_EQ(official.class_names.names, other.class_names.names);
  }
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
