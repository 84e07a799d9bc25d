#include "formats/containers/tfrecord/tfrecord_writer.h"

#include <fmt/format.h>

#include <cassert>

#include "formats/base/error.h"
#include "formats/containers/shards.h"
#include "formats/containers/tfrecord/image_example_writer.h"
#include "formats/containers/tfrecord/tf_record.h"
#include "formats/containers/tfrecord/tfrecord_index.h"
#include "formats/io/file.h"
#include "formats/io/gzip.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view gzip_suffix = ".gz";
constexpr std::string_view plain_suffix = ".plain";  // of a gzip shard that is not full yet

class TfrecordWriter final : public Writer {
 public:
  TfrecordWriter(const fs::path& directory, const WriterOptions& options)
      : directory_(directory),
        name_{.stem = options.split == "val" ? "validation" : options.split,
              .count = options.sharding.count},
        codec_(options.codec),
        gzip_(options.gzip),
        classes_(options.classes),
        examples_(classes_),
        run_(options) {
    for (const std::string& name : classes_.names) {
      if (name.find_first_of("\r\n") != std::string::npos) {
        fail(directory / class_names_file, "the name of a class holds a line end");
      }
    }
    if (const auto shard = run_.resumed_shard()) reopen(*shard, *options.resume);
  }

  void add(const Sample& sample) override {
    assert(codec_ == nullptr || sample.codec == codec_);
    while (const auto shard = run_.shard_to_open()) open(*shard);
    write(sample);
    run_.advance();
  }

  WriterState pause() override {
    WriterState state{run_.added(), {}};
    for (std::optional<OutputFile>* file : {&records_, &index_}) {
      if (!*file) continue;
      (*file)->flush();
      state.files.emplace_back(name_of((*file)->path()), (*file)->position());
    }
    return state;
  }

  void finish(const MeanImage*) override {
    while (const auto shard = run_.shard_left()) open(*shard);
    close();
    if (examples_.imagenet() || classes_.names.empty()) return;
    OutputFile labels(directory_ / class_names_file);
    for (std::size_t label = 0; label < classes_.names.size(); ++label) {
      labels.write(fmt::format("{}:{}\n", label, classes_.names[label]));
    }
    labels.close();
  }

 private:
  static std::string name_of(const fs::path& file) { return file.filename().string(); }
  fs::path shard_with(std::string_view suffix) const {
    return directory_ / (name_.text().append(suffix));
  }
  // The file that takes the records of the open shard.
  fs::path records_path() const { return shard_with(gzip_ ? plain_suffix : ""); }

  void open(std::uint32_t shard) {
    close();
    name_.shard = shard;
    records_.emplace(records_path());
    if (!gzip_) index_.emplace(tfrecord_index_of(records_path()));
  }

  void reopen(std::uint32_t shard, const WriterState& state) {
    name_.shard = shard;
    const auto go_on = [&](std::optional<OutputFile>& file, const fs::path& path) {
      file.emplace(path, resumed_size(state, name_of(path), directory_));
    };
    std::error_code ignored;
    if (gzip_ && !fs::exists(records_path(), ignored)) {
      unpack(resumed_size(state, name_of(records_path()), directory_));
    }
    go_on(records_, records_path());
    if (!gzip_) go_on(index_, tfrecord_index_of(records_path()));
  }

  void close() {
    if (!records_) return;
    records_->close();
    records_.reset();
    if (index_) index_->close();
    index_.reset();
    if (gzip_) pack();
  }

  // Turns the full shard into its gzip file.
  void pack() const {
    const auto plain = open_file_stream(records_path());
    GzipFile packed(shard_with(gzip_suffix));
    for (Bytes block = plain->next(); !block.empty(); block = plain->next()) packed.write(block);
    packed.close();
    std::error_code error;
    if (!fs::remove(records_path(), error))
      fail_errno(records_path(), "cannot remove", error.value());
  }

  // Undoes pack(): the killed writer had packed the shard that is now to be continued.
  void unpack(std::uint64_t size) const {
    const fs::path path = shard_with(gzip_suffix);
    const auto packed = open_gunzip(open_file_stream(path), path.string());
    OutputFile plain(records_path());
    while (plain.position() < size) {
      const Bytes block = packed->next(size - plain.position());
      if (block.empty()) break;  // reported when the file is opened at its size
      plain.write(block);
    }
    plain.close();
  }

  void write(const Sample& sample) {
    const std::uint64_t offset = records_->position();
    const std::array<Bytes, 3> parts = example(sample);
    const TfFrame frame = frame_tf_record(parts);
    records_->write(frame.head);
    for (const Bytes part : parts) records_->write(part);
    records_->write(frame.tail);
    if (!index_) return;
    line_.clear();
    append_tfrecord_index_line(offset, records_->position() - offset, line_);
    index_->write(line_);
  }

  std::array<Bytes, 3> example(const Sample& sample) {
    try {
      return examples_.write(sample);
    } catch (const Error& error) {
      fail(records_->path(), "sample ", run_.index(), ": ", error.what());
    }
  }

  fs::path directory_;
  ShardName name_;  // of the open shard
  const Codec* codec_;
  bool gzip_;
  ClassNames classes_;
  ImageExampleWriter examples_;  // refers to classes_
  ShardRun run_;
  std::optional<OutputFile> records_, index_;
  std::string line_;
};

}  // namespace

std::unique_ptr<Writer> make_tfrecord_writer(const fs::path& directory,
                                             const WriterOptions& options) {
  return std::make_unique<TfrecordWriter>(directory, options);
}

}  // namespace feedrate::formats
