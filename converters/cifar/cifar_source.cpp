#include "converters/cifar/cifar_source.h"

#include <algorithm>
#include <map>
#include <utility>

#include "converters/archive.h"
#include "converters/cifar/cifar_batch.h"
#include "converters/cifar/cifar_files.h"
#include "formats/base/error.h"
#include "formats/io/byte_stream.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

// Seven times the published size: room for made sets, and a limit for archive bombs.
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;

// Reads the files of one split.
class Parts {
 public:
  Parts(const CifarLayout& layout, const CifarPlace& place, std::string_view split)
      : layout_(layout), place_(place), wanted_(layout.batches(split)) {
    if (place.archive.empty()) {
      read_files();
    } else {
      read_archive();
    }
  }

  std::vector<CifarBatch> take_batches() {
    std::vector<CifarBatch> batches;
    for (const std::string_view part : wanted_) batches.push_back(std::move(batches_.at(part)));
    return batches;
  }
  std::vector<std::string> take_names() { return std::move(names_); }

 private:
  bool wants(std::string_view part) const {
    return part == cifar_names_part || std::ranges::find(wanted_, part) != wanted_.end();
  }

  void read_files() {
    for (const auto& [part, file] : place_.files) {
      if (wants(part)) add(part, read_file(file), file.string());
    }
  }

  // Not through Archive, which might take the dark top of a first image for the end of an empty
  // tar.
  Buffer read_file(const fs::path& file) const {
    auto [stream, suffix] = decompress(open_any_stream(file), file.string());
    Buffer content;
    for (Bytes block = stream->next(); !block.empty(); block = stream->next()) {
      if (block.size() > left_ - content.size()) fail_too_large(file.string());
      append(content, block);
    }
    return content;
  }

  void read_archive() {
    Archive archive(place_.archive);
    std::map<std::string_view, std::string> found;  // part → place
    while (archive.next()) {
      const auto name = parse_cifar_name(layout_, archive.name());
      if (!name || name->packaging != place_.packaging || !wants(name->part)) continue;
      const auto [at, first] = found.try_emplace(name->part, archive.place());
      if (!first) fail(archive.place(), "was found twice, also as ", at->second);
      Buffer content;
      archive.read_all(content, left_);
      add(name->part, std::move(content), archive.place());
    }
    std::string missing;
    for (const std::string_view part : wanted_) {
      if (!found.contains(part)) {
        missing += join(" ", cifar_file_name(layout_, place_.packaging, part));
      }
    }
    if (!missing.empty()) fail(place_.archive, "holds no", missing, "; is it ", layout_.title, "?");
  }

  void add(std::string_view part, Buffer content, const std::string& place) {
    if (part == cifar_names_part) {
      names_ = read_cifar_names(layout_, place_.packaging, content, place);
    } else {
      left_ -= content.size();
      batches_.try_emplace(part, layout_, place_.packaging, std::move(content), place);
    }
  }

  [[noreturn]] static void fail_too_large(const std::string& place) {
    fail(place, "makes the split larger than ", max_bytes, " bytes; no CIFAR split is that large");
  }

  const CifarLayout& layout_;
  const CifarPlace& place_;
  const std::span<const std::string_view> wanted_;
  std::uint64_t left_ = max_bytes;
  std::map<std::string_view, CifarBatch> batches_;
  std::vector<std::string> names_;
};

class CifarStream final : public SampleStream {
 public:
  CifarStream(const CifarLayout& layout, const CifarChoice& choice, std::string_view split) {
    Parts parts(layout, choice.place, split);
    batches_ = parts.take_batches();
    for (const CifarBatch& batch : batches_) info_.size += batch.count();
    info_.shape = cifar_shape;
    info_.codec = &raw_codec;
    info_.classes = layout.classes;
    info_.class_names.names = parts.take_names();
    info_.notes = choice.notes;
    if (layout.coarse_classes != 0) {
      info_.labels_follow_class = true;
      info_.notes.push_back(
          "labels are the fine ones; formats that hold several have the coarse one second");
    }
  }

  const StreamInfo& info() const override { return info_; }
  bool lasting() const override { return true; }
  bool seekable() const override { return true; }

  void seek(std::uint64_t index) override {
    batch_ = 0;
    for (; batch_ < batches_.size() && index >= batches_[batch_].count(); ++batch_) {
      index -= batches_[batch_].count();
    }
    index_ = index;
  }

  bool next(Sample& sample) override {
    if (batch_ != batches_.size() && index_ == batches_[batch_].count()) {
      ++batch_;
      index_ = 0;
    }
    if (batch_ == batches_.size()) return false;
    const CifarBatch& batch = batches_[batch_];
    sample = Sample{.bytes = batch.pixels(index_),
                    .codec = &raw_codec,
                    .shape = cifar_shape,
                    .order = PixelOrder::planar_rgb,
                    .label = batch.label(index_),
                    .labels = batch.all_labels(index_)};
    ++index_;
    return true;
  }

 private:
  std::vector<CifarBatch> batches_;
  std::size_t batch_ = 0;
  std::uint64_t index_ = 0;
  StreamInfo info_;
};

}  // namespace

std::unique_ptr<SampleStream> CifarSource::open(std::span<const fs::path> inputs,
                                                std::string_view split) const {
  return std::make_unique<CifarStream>(layout_, find_cifar(layout_, inputs, split), split);
}

std::vector<fs::path> CifarSource::files(std::span<const fs::path> inputs,
                                         std::string_view split) const {
  const CifarPlace place = find_cifar(layout_, inputs, split).place;
  if (!place.archive.empty()) return {place.archive};
  std::vector<fs::path> files;
  for (const std::string_view part : layout_.batches(split)) files.push_back(place.files.at(part));
  if (const auto names = place.files.find(cifar_names_part); names != place.files.end()) {
    files.push_back(names->second);
  }
  return files;
}

}  // namespace feedrate::converters
