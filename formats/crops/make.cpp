#include <algorithm>

#include "formats/base/error.h"
#include "formats/base/lost_pages.h"
#include "formats/codecs/jpeg/jpeg_index.h"
#include "formats/crops/crop_index.h"
#include "formats/crops/index_layout.h"
#include "formats/io/file.h"

namespace feedrate::formats {
namespace {

// Samples whose entries are made in parallel and then written in order.
constexpr std::uint64_t block = 8192;

class Maker {
 public:
  Maker(const Dataset& dataset, unsigned threads, const ProgressCallback& progress)
      : dataset_(dataset), progress_(progress), workers_(threads) {}

  void write(OutputFile& to);
  const MadeCropIndex& made() const { return made_; }

 private:
  struct Worker {
    Scratch scratch;
    std::uint64_t unreadable = 0, bytes = 0;
  };

  void make(std::uint64_t sample, Worker& worker, Buffer& entry);

  const Dataset& dataset_;
  const ProgressCallback& progress_;
  std::vector<Worker> workers_;
  MadeCropIndex made_;
};

void Maker::make(std::uint64_t index, Worker& worker, Buffer& entry) {
  entry.clear();
  try {
    const Sample sample = dataset_.read(index, worker.scratch);
    worker.bytes += sample.bytes.size();
    if (sample.codec == &jpeg_codec) make_jpeg_index(sample.bytes, entry);
  } catch (const Error&) {
    ++worker.unreadable;  // as who loads or verifies it will be told
  }
}

void Maker::write(OutputFile& to) {
  const std::uint64_t lost_before = lost_pages_so_far();  // of any file
  Buffer head, foot;
  append(head, as_bytes(crops::magic));
  append_le(head, crops::version);
  append_le(head, std::uint32_t{0});
  to.write(head);
  std::vector<std::uint64_t> offsets;
  offsets.reserve(dataset_.size() + 1);
  std::vector<Buffer> entries(std::min(block, dataset_.size()));
  for (std::uint64_t first = 0; first < dataset_.size(); first += block) {
    const std::uint64_t count = std::min(block, dataset_.size() - first);
    sweep(
        count, static_cast<unsigned>(workers_.size()),
        [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
          for (std::uint64_t i = begin; i < end; ++i) {
            make(first + i, workers_[worker], entries[i]);
          }
        },
        [&](std::uint64_t done, std::uint64_t) {
          if (progress_) progress_(first + done, dataset_.size());
        });
    for (std::uint64_t i = 0; i < count; ++i) {
      offsets.push_back(to.position());
      to.write(entries[i]);
      if (!entries[i].empty()) ++made_.indexed;
    }
  }
  offsets.push_back(to.position());
  for (const Worker& worker : workers_) {
    made_.unreadable += worker.unreadable;
    made_.sample_bytes += worker.bytes;
  }
  to.write(std::as_bytes(std::span(offsets)));
  append_le(foot, dataset_.size());
  append_le(foot, fingerprint(std::as_bytes(std::span(offsets))));
  append_le(foot, crops::checksum(head, foot));
  to.write(foot);
  made_.samples = dataset_.size();
  made_.bytes = to.position();
  dataset_.expect_unchanged();
  if (const std::string lost = lost_pages_of_process(lost_before); !lost.empty()) throw Error(lost);
  if (made_.indexed > 0) return;
  throw NothingToIndex(
      join(dataset_.info().path,
           ": holds no baseline JPEG of more than a few kilobytes, so a crop index "
           "would be empty"));
}

}  // namespace

MadeCropIndex make_crop_index(const Dataset& dataset, const std::filesystem::path& file,
                              unsigned threads, const ProgressCallback& progress) {
  Maker maker(dataset, std::max(threads, 1U), progress);
  replace_file(file, [&](OutputFile& to) { maker.write(to); });
  MadeCropIndex made = maker.made();
  made.file = file;
  return made;
}

}  // namespace feedrate::formats
