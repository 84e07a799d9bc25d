#include "formats/containers/tfrecord_shard.h"

#include <fcntl.h>

#include <algorithm>

#include "formats/containers/tf_record.h"
#include "formats/containers/tfrecord_index.h"
#include "formats/error.h"
#include "formats/gzip.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

bool is_gzip(Bytes start) {
  return start.size() >= 2 && start[0] == std::byte{0x1f} && start[1] == std::byte{0x8b};
}

// TensorFlow's other compression of whole files: a zlib stream, whose first two bytes are such a
// multiple of 31.
bool is_zlib(Bytes start) {
  return start.size() >= 2 && start[0] == std::byte{0x78} &&
         load_be<std::uint16_t>(start.data()) % 31 == 0;
}

Buffer inflate(const fs::path& path, std::uint64_t most) {
  Buffer content;
  const auto stream = open_gunzip(open_file_stream(path), path.string());
  for (Bytes block = stream->next(); !block.empty(); block = stream->next()) {
    if (block.size() > most - content.size()) {
      fail(path, "is gzip, and records are found only in memory, which needs more than the ",
           most >> 20, " MiB left for that; unpack the files first (gunzip)");
    }
    append(content, block);
  }
  return content;
}

std::vector<std::uint64_t> scan(const fs::path& path, Bytes bytes) {
  std::vector<std::uint64_t> starts{0};
  try {
    while (starts.back() < bytes.size()) starts.push_back(skip_tf_record(bytes, starts.back()));
  } catch (const Error& error) {
    fail(path, "record ", starts.size() - 1, ": ", error.what());
  }
  return starts;
}

}  // namespace

TfrecordShard::TfrecordShard(const fs::path& path, std::uint64_t most_memory)
    : path_(path), file_(path), bytes_(file_.bytes()) {
  if (is_gzip(bytes_)) {
    file_ = MappedFile();
    inflated_ = inflate(path, most_memory);
    bytes_ = inflated_;
  } else if (is_zlib(bytes_) && !is_tf_record(bytes_)) {
    fail(path, "is compressed as a whole with ZLIB, which Feedrate does not read; TensorFlow can ",
         "write it anew with GZIP or without compression");
  }
  find_starts();
}

void TfrecordShard::find_starts() {
  const fs::path index = tfrecord_index_of(path_);
  std::error_code ignored;
  if (fs::exists(index, ignored)) {
    try {
      starts_ = read_tfrecord_index(index, bytes_.size());
      indexed_ = true;
      return;
    } catch (const Error& error) {
      index_problem_ = error.what();  // the records themselves are the truth; audit_index tells
    }
  }
  starts_ = scan(path_, bytes_);
}

Bytes TfrecordShard::read(std::uint64_t record) const {
  const Bytes data = read_tf_record(bytes_, starts_[record]);
  const std::uint64_t end = starts_[record] + data.size() + tf_record_frame;
  if (end != starts_[record + 1]) {
    throw Error(join("the record ends at byte ", end, ", the index says ", starts_[record + 1],
                     "; does the .idx belong to this file?"));
  }
  return data;
}

void TfrecordShard::audit_index(const std::function<void(Finding)>& found) const {
  const auto tell = [&](const std::string& problem) {
    found({tfrecord_index_of(path_).string(), problem});
  };
  if (!index_problem_.empty()) tell(index_problem_);
  if (!indexed_) return;
  const std::vector<std::uint64_t> starts = scan(path_, bytes_);
  const auto [wrong, right] =
      std::mismatch(starts_.begin(), starts_.end(), starts.begin(), starts.end());
  if (wrong == starts_.end() && right == starts.end()) return;
  tell(join("line ", wrong - starts_.begin(), ": this record ends at byte ", *right, ", not at ",
            *wrong));
}

bool looks_like_tfrecords(const fs::path& file) {
  try {
    const auto stream = open_file_stream(file);
    const Bytes start = stream->peek();
    if (is_tf_record(start)) return true;
    if (!is_gzip(start)) return false;
    return is_tf_record(open_gunzip(open_file_stream(file), file.string())->next());
  } catch (const Error&) {
    return false;
  }
}

}  // namespace feedrate
