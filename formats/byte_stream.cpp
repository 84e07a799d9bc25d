#include "formats/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "formats/archive_handle.h"
#include "formats/error.h"
#include "formats/file.h"
#include "formats/gzip.h"

namespace feedrate {
namespace {

constexpr std::size_t block_bytes = std::size_t{256}
                                    << 10;  // past this a larger block reads no faster

class FileStream final : public ByteStream {
 public:
  explicit FileStream(const std::filesystem::path& path)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), buffer_(block_bytes) {
    if (!file_) fail_errno(path, "cannot open", errno);
    struct stat status {};
    if (::fstat(file_.number(), &status) != 0) fail_errno(path, "cannot stat", errno);
    if (S_ISDIR(status.st_mode)) fail(path, "is a directory; expected an archive or a data file");
    regular_ = S_ISREG(status.st_mode);
    if (regular_) size_ = static_cast<std::uint64_t>(status.st_size);
    ::posix_fadvise(file_.number(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }

  bool seekable() const override { return regular_; }
  std::uint64_t size() const override { return size_; }

 private:
  Bytes fetch() override {
    ssize_t count = 0;
    do count = ::read(file_.number(), buffer_.data(), buffer_.size());
    while (count < 0 && errno == EINTR);
    if (count < 0) fail_errno(path_, join("cannot read at byte ", position_), errno);
    position_ += static_cast<std::uint64_t>(count);
    return {buffer_.data(), static_cast<std::size_t>(count)};
  }

  // Never past the end: a file cut short must be seen to end, not be skipped over.
  std::uint64_t do_skip(std::uint64_t count) override {
    if (!regular_ || position_ >= size_) return 0;
    count = std::min(count, size_ - position_);
    do_seek(position_ + count);
    return count;
  }

  void do_seek(std::uint64_t position) override {
    if (::lseek(file_.number(), static_cast<off_t>(position), SEEK_SET) < 0) {
      fail_errno(path_, join("cannot seek to byte ", position), errno);
    }
    position_ = position;
  }

  std::filesystem::path path_;
  Descriptor file_;
  bool regular_ = false;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
  Buffer buffer_;
};

// bzip2, xz or zstd, by libarchive's filters, which check the checksums of these three.
class FilterStream final : public ByteStream {
 public:
  FilterStream(std::unique_ptr<ByteStream> source, const std::string& place)
      : place_(place),
        source_(std::move(source)),
        handle_(*source_, ArchiveHandle::Reads::filters) {
    if (!handle_.next_header()) handle_.fail(place_, "cannot be decompressed");
  }

 private:
  Bytes fetch() override {
    const std::optional<Bytes> block = handle_.next_block();
    if (!block) handle_.fail(place_, join("after ", position_, " decompressed bytes"));
    position_ += block->size();
    return *block;
  }

  std::string place_;
  std::unique_ptr<ByteStream> source_;
  ArchiveHandle handle_;
  std::uint64_t position_ = 0;
};

struct Signature {
  std::string_view first_bytes;
  std::string_view suffix;
};
constexpr Signature signatures[] = {{"\x1f\x8b", ".gz"},
                                    {"BZh", ".bz2"},
                                    {"\xfd"
                                     "7zXZ",
                                     ".xz"},
                                    {"\x28\xb5\x2f\xfd", ".zst"}};

}  // namespace

Bytes ByteStream::next() {
  if (!held_) return fetch();
  const Bytes block = *held_;
  held_.reset();
  return block;
}

Bytes ByteStream::peek() {
  if (!held_) held_ = fetch();
  return *held_;
}

void ByteStream::seek(std::uint64_t position) {
  held_.reset();
  do_seek(position);
}

std::unique_ptr<ByteStream> open_file_stream(const std::filesystem::path& path) {
  return std::make_unique<FileStream>(path);
}

Decompressed decompress(std::unique_ptr<ByteStream> source, const std::string& place) {
  const std::string_view start = as_text(source->peek());
  for (const Signature& signature : signatures) {
    if (!start.starts_with(signature.first_bytes)) continue;
    if (signature.suffix == ".gz") return {open_gunzip(std::move(source), place), ".gz"};
    return {std::make_unique<FilterStream>(std::move(source), place), signature.suffix};
  }
  return {std::move(source), {}};
}

}  // namespace feedrate
