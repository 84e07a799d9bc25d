#include "formats/io/byte_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>

#include "formats/base/error.h"
#include "formats/base/stop.h"
#include "formats/io/archive_handle.h"
#include "formats/io/file.h"
#include "formats/io/gzip.h"
#include "formats/io/late_bytes.h"
#include "formats/io/lfs_pointer.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 10;  // larger blocks are no faster to read

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
constexpr std::size_t longest_signature = 5;
constexpr std::size_t first_look = 4096;  // at late bytes

const Signature* signature_of(Bytes start) {
  const auto* const found = std::ranges::find_if(signatures, [&](const Signature& signature) {
    return as_text(start).starts_with(signature.first_bytes);
  });
  return found == std::end(signatures) ? nullptr : found;
}

struct OpenFile {
  std::filesystem::path path;
  Descriptor descriptor;
  bool regular = false;
  std::shared_ptr<LateBytes> late = nullptr;  // of a regular file
  std::uint64_t size = 0;                     // of a regular file
};

OpenFile open_file(const std::filesystem::path& path) {
  OpenFile file{path, open_to_read(path)};
  struct stat status {};
  if (::fstat(file.descriptor.number(), &status) != 0) fail_errno(path, "cannot stat", errno);
  if (S_ISDIR(status.st_mode)) fail(path, "is a directory; expected an archive or a data file");
  file.regular = S_ISREG(status.st_mode);
  if (file.regular) {
    file.size = static_cast<std::uint64_t>(status.st_size);
    file.late = late_bytes_of({status.st_dev, status.st_ino});
  }
  return file;
}

void wait_for_bytes(const Descriptor& pipe) {
  constexpr int milliseconds = 100;
  pollfd readable{pipe.number(), POLLIN, 0};
  while (::poll(&readable, 1, milliseconds) <= 0) throw_if_stop_requested();
}

class FileStream final : public ByteStream {
 public:
  explicit FileStream(OpenFile file) : file_(std::move(file)), buffer_(block_bytes) {
    ::posix_fadvise(file_.descriptor.number(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }

  bool seekable() const override { return file_.regular; }
  std::uint64_t size() const override { return file_.size; }

 private:
  Bytes fetch() override {
    if (!file_.regular) wait_for_bytes(file_.descriptor);
    return Bytes(buffer_).first(read_some(file_.descriptor, file_.path, position_, buffer_));
  }

  // Never past the end: a truncated file must be seen to end, not be skipped over.
  std::uint64_t do_skip(std::uint64_t count) override {
    if (!file_.regular || position_ >= file_.size) return 0;
    count = std::min(count, file_.size - position_);
    do_seek(position_ + count);
    return count;
  }

  void do_seek(std::uint64_t position) override {
    if (::lseek(file_.descriptor.number(), static_cast<off_t>(position), SEEK_SET) < 0) {
      fail_errno(file_.path, join("cannot seek to byte ", position), errno);
    }
    position_ = position;
  }

  OpenFile file_;
  std::uint64_t position_ = 0;
  Buffer buffer_;
};

class MappedStream final : public ByteStream {
 public:
  explicit MappedStream(MappedFile file) : file_(std::move(file)) {
    file_.expect_reading_in_order();
  }

  bool seekable() const override { return true; }
  std::uint64_t size() const override { return file_.bytes().size(); }
  std::optional<Bytes> whole() const override { return file_.bytes(); }

  // Gives memory back some way behind the reader, because its last block may still be in use.
  // Memory that was touched again after being given back is given back again.
  void passed(const std::byte* end) override {
    constexpr std::size_t kept = std::size_t{128} << 20;
    constexpr std::size_t step = std::size_t{64} << 20;
    const auto reached = static_cast<std::size_t>(end - file_.bytes().data());
    if (reached < kept + step + given_back_) return;
    const std::size_t from = given_back_ - std::min(given_back_, kept);
    given_back_ = (reached - kept) / step * step;
    file_.give_back(file_.bytes().subspan(from, given_back_ - from));
  }
  void give_back(Bytes part) override {
    const Bytes all = file_.bytes();
    if (std::less_equal{}(all.data(), part.data()) &&
        std::less_equal{}(part.data() + part.size(), all.data() + all.size())) {
      file_.give_back(part);
    }
  }

 private:
  Bytes fetch() override {
    const Bytes rest = file_.bytes().subspan(position_);
    position_ = file_.bytes().size();
    return rest;
  }

  std::uint64_t do_skip(std::uint64_t count) override {
    count = std::min<std::uint64_t>(count, file_.bytes().size() - position_);
    position_ += count;
    return count;
  }

  void do_seek(std::uint64_t position) override {
    position_ = std::min<std::uint64_t>(position, file_.bytes().size());
  }

  MappedFile file_;
  std::size_t position_ = 0;
  std::size_t given_back_ = 0;  // bytes at the front of the file
};

// Late bytes, in blocks that are released with the next call. The first block is small: many readers look
// only at the first bytes of a file, to tell its kind.
class LateStream final : public ByteStream {
 public:
  LateStream(std::filesystem::path path, std::shared_ptr<LateBytes> late)
      : path_(std::move(path)), late_(std::move(late)) {}

  bool seekable() const override { return true; }
  std::uint64_t size() const override { return late_->map().size(); }

 private:
  Bytes fetch() override {
    const Bytes map = late_->map();
    const Bytes rest = map.subspan(position_);
    const Bytes block =
        rest.first(std::min(rest.size(), position_ == 0 ? first_look : late_piece_bytes));
    if (!block.empty()) late_->ask(block);
    position_ += block.size();
    const Bytes next = map.subspan(position_);
    if (block.size() == late_piece_bytes)
      late_->ask(next.first(std::min(next.size(), late_piece_bytes)));
    try {
      block_ = hold(block);
    } catch (const Error& error) {
      fail(path_, error.what());
    }
    return block;
  }

  std::uint64_t do_skip(std::uint64_t count) override {
    count = std::min<std::uint64_t>(count, size() - position_);
    position_ += count;
    return count;
  }

  void do_seek(std::uint64_t position) override { position_ = std::min(position, size()); }

  std::filesystem::path path_;
  std::shared_ptr<LateBytes> late_;
  Held block_;
  std::uint64_t position_ = 0;
};

// bzip2, xz or zstd by libarchive's filters, which check the checksums of these three.
class FilterStream final : public ByteStream {
 public:
  FilterStream(std::unique_ptr<ByteStream> source, const std::string& place)
      : place_(place),
        source_(std::move(source)),
        handle_(*source_, ArchiveHandle::Reads::filters) {
    empty_ = !handle_.next_header();
    if (handle_.failed()) handle_.fail(place_, "cannot be decompressed");
    // libarchive takes a bzip2 of few bytes for something else.
    if (!handle_.filtered()) fail(place_, "is cut off: it is shorter than any compressed content");
  }

 private:
  Bytes fetch() override {
    if (empty_) return {};
    const std::optional<Bytes> block = handle_.next_block();
    if (!block) handle_.fail(place_, join("after ", position_, " decompressed bytes"));
    position_ += block->size();
    return *block;
  }

  std::string place_;
  std::unique_ptr<ByteStream> source_;
  ArchiveHandle handle_;
  std::uint64_t position_ = 0;
  bool empty_ = false;
};

}  // namespace

Bytes ByteStream::next(std::size_t max_bytes) {
  Bytes block = held_ ? *held_ : fetch();
  held_.reset();
  if (block.size() <= max_bytes) return block;
  held_ = block.subspan(max_bytes);
  passed(block.data());
  return block.first(max_bytes);
}

Bytes ByteStream::peek() {
  if (!held_) held_ = fetch();
  return *held_;
}

void ByteStream::seek(std::uint64_t position) {
  held_.reset();
  do_seek(position);
}

namespace {

std::unique_ptr<ByteStream> stream_of(OpenFile file) {
  if (file.late != nullptr) return std::make_unique<LateStream>(file.path, std::move(file.late));
  std::array<std::byte, longest_signature> start{};
  const ssize_t found =
      file.regular ? ::pread(file.descriptor.number(), start.data(), start.size(), 0) : 0;
  if (found > 0 && signature_of(start) == nullptr) {
    refuse_lfs_pointer(file.path);
    try {
      return std::make_unique<MappedStream>(MappedFile(file.path));
    } catch (const Error&) {
      // Some file systems cannot map files; all can read them.
    }
  }
  return std::make_unique<FileStream>(std::move(file));
}

}  // namespace

std::unique_ptr<ByteStream> open_file_stream(const std::filesystem::path& path) {
  OpenFile file = open_file(path);
  if (!file.regular) fail(path, "is not a regular file");
  return stream_of(std::move(file));
}

std::unique_ptr<ByteStream> open_any_stream(const std::filesystem::path& path) {
  return stream_of(open_file(path));
}

Decompressed decompress(std::unique_ptr<ByteStream> source, const std::string& place) {
  const Signature* signature = signature_of(source->peek());
  if (signature == nullptr) return {std::move(source), {}};
  if (signature->suffix == ".gz") return {open_gunzip(std::move(source), place), ".gz"};
  return {std::make_unique<FilterStream>(std::move(source), place), signature->suffix};
}

}  // namespace feedrate::formats
