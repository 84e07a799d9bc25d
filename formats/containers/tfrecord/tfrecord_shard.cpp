#include "formats/containers/tfrecord/tfrecord_shard.h"

#include <algorithm>

#include "formats/base/error.h"
#include "formats/containers/tfrecord/tf_record.h"
#include "formats/containers/tfrecord/tfrecord_index.h"
#include "formats/io/gzip.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

// The content of a file that is compressed as a whole, by either of TensorFlow's ways; null for others.
std::unique_ptr<ByteStream> open_compressed(const fs::path& path, Bytes start) {
  if (is_gzip(start)) return open_gunzip(open_file_stream(path), shown_path(path));
  if (is_zlib(start)) return open_zlib(open_file_stream(path), shown_path(path));
  return nullptr;
}

Buffer inflate(const fs::path& path, ByteStream& stream, MemoryBudget& memory) {
  Buffer content;
  for (Bytes block = stream.next(); !block.empty(); block = stream.next()) {
    if (!memory.take(block.size())) {
      fail(path, "is compressed as a whole, and inflating it exceeds the limit of ",
           memory.total() >> 30,
           " GiB of memory for such files of a dataset; unpack them first (gunzip)");
    }
    append(content, block);
  }
  return content;
}

}  // namespace

TfrecordShard::TfrecordShard(const fs::path& path, MemoryBudget& memory)
    : path_(path), file_(path), bytes_(file_.map()) {
  const Held head = held_head();
  if (is_tf_record(bytes_)) {  // a record's length may look like any signature
    find_starts();
    return;
  }
  if (const auto content = open_compressed(path, bytes_)) {
    file_ = MappedFile();
    inflated_ = inflate(path, *content, memory);
    bytes_ = inflated_;
  }
  find_starts();
}

// What tells the kind of file.
Held TfrecordShard::held_head() const {
  try {
    return hold(bytes_.first(std::min(bytes_.size(), tf_record_head)));
  } catch (const Error& error) {
    fail(path_, error.what());
  }
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
      index_problem_ = error.what();  // the records themselves decide; audit_index reports it
    }
  }
  starts_ = scan();
}

Offsets TfrecordShard::scan() const {
  const std::uint64_t size = bytes_.size();
  Offsets starts(size);
  starts.push_back(0);
  const SinglePages heads(bytes_);
  HeldWindow window(bytes_);
  try {
    while (starts.back() < size) {
      window.need(starts.back(), tf_record_head);
      starts.push_back(tf_record_end(bytes_.subspan(starts.back()), starts.back(), size));
    }
  } catch (const Error& error) {
    fail(path_, "record ", starts.size() - 1, ": ", error.what());
  }
  return starts;
}

bool TfrecordShard::look_ahead(std::uint64_t record) const {
  if (file_.map().empty()) return false;
  file_.look_ahead(stored(record));
  return true;
}

Bytes TfrecordShard::stored(std::uint64_t record) const {
  const std::uint64_t start = starts_[record];
  const std::uint64_t end = starts_[record + 1];
  return start < end && end <= bytes_.size() ? bytes_.subspan(start, end - start) : Bytes();
}

Bytes TfrecordShard::read(std::uint64_t record, Held& held) const {
  held = hold(stored(record));
  const Bytes data = read_tf_record(bytes_, starts_[record]);
  const std::uint64_t end = starts_[record] + data.size() + tf_record_frame;
  if (end != starts_[record + 1]) {
    throw Error(join("the record ends at byte ", end, ", the index says ", starts_[record + 1],
                     "; does the .idx belong to this file?"));
  }
  return data;
}

void TfrecordShard::write_index() const {
  if (!inflated_.empty()) fail(path_, "is compressed, and DALI's index is for plain ones");
  const Offsets starts = scan();
  replace_file(tfrecord_index_of(path_), [&](OutputFile& file) {
    std::string line;
    for (std::size_t i = 1; i < starts.size(); ++i) {
      line.clear();
      append_tfrecord_index_line(starts[i - 1], starts[i] - starts[i - 1], line);
      file.write(line);
    }
  });
}

void TfrecordShard::audit_index(const std::function<void(Finding)>& found) const {
  const auto tell = [&](const std::string& problem) {
    found({shown_path(tfrecord_index_of(path_)), problem});
  };
  if (!index_problem_.empty()) tell(index_problem_);
  if (!indexed_) return;
  try {
    const Offsets starts = scan();
    // Both end where the file does, so neither is a prefix of the other.
    std::size_t line = 0;
    while (line < starts_.size() && starts_[line] == starts[line]) ++line;
    if (line == starts_.size()) return;
    tell(join("line ", line, ": this record ends at byte ", starts[line], ", not at ",
              starts_[line]));
  } catch (const Error& error) {
    found({shown_path(path_), error.what()});
  }
}

bool looks_like_tfrecords(const fs::path& file) {
  try {
    const auto stream = open_file_stream(file);
    const Bytes start = stream->peek();
    if (is_tf_record(start)) return true;
    const auto content = open_compressed(file, start);
    return content != nullptr && is_tf_record(content->next());
  } catch (const Error&) {
    return false;
  }
}

}  // namespace feedrate::formats
