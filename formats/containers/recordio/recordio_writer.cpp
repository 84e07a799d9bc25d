#include "formats/containers/recordio/recordio_writer.h"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <cmath>

#include "formats/base/error.h"
#include "formats/containers/recordio/image_record.h"
#include "formats/containers/recordio/record.h"
#include "formats/containers/recordio/record_index.h"
#include "formats/containers/shards.h"
#include "formats/io/file.h"
#include "formats/means/mean_format.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

// The three files of a shard.
constexpr std::array<const char*, 3> extensions{".rec", ".idx", ".lst"};
enum File : std::size_t { records, index, list };

class RecordioWriter final : public Writer {
 public:
  RecordioWriter(const fs::path& directory, const WriterOptions& options)
      : directory_(directory),
        codec_(options.codec),
        shards_(options.sharding.count),
        run_(options) {
    const auto shard = run_.resumed_shard();
    if (!shard) return;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const std::string name = file_name(*shard, extensions[i]);
      files_[i].emplace(directory_ / name, resumed_size(*options.resume, name, directory_));
    }
  }

  void add(const Sample& sample) override {
    assert(codec_ == nullptr || sample.codec == codec_);
    if (sample.name.find_first_of("\t\r\n") != std::string_view::npos) {
      refuse("a name with a tab or a line end does not fit into the .lst");
    }
    while (const auto shard = run_.shard_to_open()) open(*shard);
    const std::uint64_t start = files_[records]->position();
    write_record(sample);
    line_.clear();
    append_index_line({start, run_.index()}, line_);
    files_[index]->write(line_);
    write_list_line(sample);
    run_.advance();
  }

  Bytes details() const override { return head_; }

  WriterState pause() override {
    WriterState state{run_.added(), {}};
    for (std::optional<OutputFile>& file : files_) {
      if (!file) continue;
      file->flush();
      state.files.emplace_back(file->path().filename().string(), file->position());
    }
    return state;
  }

  void finish(const MeanImage* mean) override {
    while (const auto shard = run_.shard_left()) open(*shard);
    close();
    if (mean != nullptr) write_mean(directory_ / "mean.nd", *mean);
  }

 private:
  std::string file_name(std::uint32_t shard, const char* extension) const {
    if (shards_ == 1) return join(recordio_stem, extension);
    return ShardName{.stem = std::string(recordio_stem),
                     .shard = shard,
                     .count = shards_,
                     .extension = extension}
        .text();
  }

  void open(std::uint32_t shard) {
    close();
    for (std::size_t i = 0; i < files_.size(); ++i) {
      files_[i].emplace(directory_ / file_name(shard, extensions[i]));
    }
  }

  void close() {
    for (std::optional<OutputFile>& file : files_) {
      if (file) file->close();
      file.reset();
    }
  }

  void write_record(const Sample& sample) {
    try {
      write_image_head(sample, run_.index(), head_);
    } catch (const Error& error) {
      refuse(error.what());
    }
    if (sample.bytes.size() > max_record_bytes - head_.size()) {
      refuse(join("an image of ", sample.bytes.size(), " bytes; a record holds less than 2^29"));
    }
    frame_record(head_, sample.bytes, [&](Bytes piece) { files_[records]->write(piece); });
  }

  // Whole numbers, as MXNet 1.x writes them; every reader of a .lst parses floats.
  void write_list_line(const Sample& sample) {
    line_.clear();
    const auto line = std::back_inserter(line_);
    fmt::format_to(line, "{}\t", run_.index());
    if (!sample.labels.empty()) {
      for (const float label : sample.labels) {
        if (std::trunc(label) == label) {
          fmt::format_to(line, "{:f}\t", label);
        } else {
          fmt::format_to(line, "{}\t", label);
        }
      }
    } else {
      fmt::format_to(line, "{}.000000\t", sample.label);
    }
    if (sample.name.empty()) {
      fmt::format_to(line, "{:05}.{}\n", run_.index(), sample.codec->extension());
    } else {
      fmt::format_to(line, "{}\n", sample.name);
    }
    files_[list]->write(line_);
  }

  [[noreturn]] void refuse(std::string_view why) const {
    fail(files_[records] ? files_[records]->path() : directory_, "sample ", run_.index(), ": ",
         why);
  }

  fs::path directory_;
  const Codec* codec_;
  std::uint32_t shards_;
  ShardRun run_;
  std::array<std::optional<OutputFile>, extensions.size()> files_;  // of the open shard
  std::string line_;
  Buffer head_;
};

}  // namespace

std::unique_ptr<Writer> make_recordio_writer(const fs::path& directory,
                                             const WriterOptions& options) {
  return std::make_unique<RecordioWriter>(directory, options);
}

}  // namespace feedrate::formats
