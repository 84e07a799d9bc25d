#include "formats/containers/webdataset/webdataset_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "formats/base/error.h"
#include "formats/containers/shards.h"
#include "formats/containers/webdataset/tar_sample.h"
#include "formats/containers/webdataset/wds_index.h"
#include "formats/containers/webdataset/wds_json.h"
#include "formats/io/file.h"
#include "formats/io/mapped_file.h"
#include "formats/io/tar_format.h"
#include "formats/io/tar_writer.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

// In the order of a sample's files. Older versions called a packed image .png too.
constexpr std::string_view extensions[] = {"cls", "jpg", "json", "packed", "png", "webp"};

// A file, kept for the index until its shard ends, with size and extension in eight bytes.
class Row {
 public:
  Row(std::uint64_t size, std::string_view extension) : packed_(size * std::size(extensions)) {
    const auto* at = std::find(std::begin(extensions), std::end(extensions), extension);
    assert(at != std::end(extensions));
    packed_ += static_cast<std::uint64_t>(at - std::begin(extensions));
  }
  std::uint64_t size() const { return packed_ / std::size(extensions); }
  std::string_view extension() const { return extensions[packed_ % std::size(extensions)]; }
  bool starts_sample() const { return extension() == extensions[0]; }

 private:
  std::uint64_t packed_;
};

std::string key_of(std::uint64_t index) { return fmt::format("{:08}", index); }

// One tar and its index.
class ShardFile {
 public:
  /// `first` is the index of the shard's first sample, `size` the bytes of the tar that exist
  /// already.
  ShardFile(const fs::path& path, std::uint64_t first, std::uint64_t size)
      : first_(first), file_(path, size), tar_(file_, size) {
    recall();
  }
  ShardFile(const fs::path& path, std::uint64_t first) : first_(first), file_(path), tar_(file_) {}

  void add(const std::string& key, std::string_view extension, Bytes content) {
    name_.assign(key).append(1, '.').append(extension);
    tar_.add(name_, content);
    rows_.emplace_back(content.size(), extension);
  }

  std::pair<std::string, std::uint64_t> pause() {
    file_.flush();
    return {file_.path().filename().string(), file_.position()};
  }

  void close() {
    tar_.finish();
    file_.close();
    write_index();
  }

 private:
  // Restores what a killed writer knew about the shard, from the headers that it left.
  void recall() {
    const MappedFile written(file_.path());
    TarWalk walk(written.bytes());
    SampleMember member;
    try {
      while (walk.position() < file_.position() && next_member(walk, member)) {
        rows_.emplace_back(member.entry.size, member.extension);
      }
    } catch (const Error& error) {
      fail(file_.path(), "cannot go on writing: ", error.what());
    }
    if (walk.position() != file_.position()) {
      fail(file_.path(), "cannot go on writing: no member starts at byte ", file_.position());
    }
  }

  void write_index() const {
    OutputFile index(wds_index_path(file_.path()));
    index.write(fmt::format("v1.2 {}", std::count_if(rows_.begin(), rows_.end(),
                                                     [](Row row) { return row.starts_sample(); })));
    std::uint64_t at = 0;
    std::uint64_t sample = first_;
    std::string key, text;
    for (const Row& row : rows_) {
      if (row.starts_sample()) key = key_of(sample++);
      text.assign(1, row.starts_sample() ? '\n' : ' ');
      fmt::format_to(std::back_inserter(text), "{0} {1} {2} {3}.{0}", row.extension(),
                     at + tar_block, row.size(), key);
      index.write(text);
      at += tar_block + tar_padded(row.size());
    }
    index.write("\n");
    index.close();
  }

  std::uint64_t first_;
  OutputFile file_;
  TarWriter tar_;
  std::vector<Row> rows_;
  std::string name_;
};

class WebdatasetWriter final : public Writer {
 public:
  WebdatasetWriter(const fs::path& directory, const WriterOptions& options)
      : directory_(directory),
        split_(options.split),
        sharding_(options.sharding),
        codec_(options.codec),
        classes_(options.classes),
        run_(options) {
    if (const auto shard = run_.resumed_shard()) {
      const fs::path path = path_of(*shard);
      const std::uint64_t size = resumed_size(*options.resume, path.filename().string(), directory);
      shard_.emplace(path, sharding_.begin(*shard), size);
    }
  }

  void add(const Sample& sample) override {
    assert(codec_ == nullptr || sample.codec == codec_);
    while (const auto shard = run_.shard_to_open()) open(*shard);
    if (sample.label < 0) {
      fail(directory_, "sample ", run_.index(), ": the negative label ", sample.label,
           " is not a class number");
    }
    const std::string key = key_of(run_.index());
    const std::string label = fmt::format("{}", sample.label);
    write_sample_json(sample, classes_, json_);
    const std::string_view extension = sample.codec->extension();
    const bool first = extension < "json";
    shard_->add(key, "cls", as_bytes(label));
    if (first) shard_->add(key, extension, sample.bytes);
    if (!json_.empty()) shard_->add(key, "json", as_bytes(json_));
    if (!first) shard_->add(key, extension, sample.bytes);
    run_.advance();
  }

  Bytes details() const override { return as_bytes(json_); }

  WriterState pause() override {
    WriterState state{run_.added(), {}};
    if (shard_) state.files.push_back(shard_->pause());
    return state;
  }

  void finish(const MeanImage*) override {
    while (const auto shard = run_.shard_left()) open(*shard);
    if (shard_) shard_->close();
    shard_.reset();
  }

 private:
  fs::path path_of(std::uint32_t shard) const {
    return directory_ / fmt::format("{}-{:06}.tar", split_, shard);
  }

  void open(std::uint32_t shard) {
    if (shard_) shard_->close();
    shard_.emplace(path_of(shard), sharding_.begin(shard));
  }

  fs::path directory_;
  std::string split_;
  Sharding sharding_;
  const Codec* codec_;
  ClassNames classes_;
  ShardRun run_;
  std::optional<ShardFile> shard_;
  std::string json_;
};

}  // namespace

std::unique_ptr<Writer> make_webdataset_writer(const fs::path& directory,
                                               const WriterOptions& options) {
  return std::make_unique<WebdatasetWriter>(directory, options);
}

bool is_index_key(std::string_view key) {
  return key.size() >= 8 &&
         std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace feedrate::formats
