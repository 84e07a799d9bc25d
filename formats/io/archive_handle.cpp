#include "formats/io/archive_handle.h"

#include <archive.h>
#include <archive_entry.h>

#include <locale.h>

#include <algorithm>
#include <new>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

/// While this lives, this thread's locale shows every UTF-8 name of a zip. libarchive drops those that
/// the locale cannot show, and a program that chooses none shows ASCII alone. Names in a tar it keeps.
class ShowsUtf8 {
 public:
  explicit ShowsUtf8(bool is_zip)
      : before_(is_zip && locale() != nullptr ? uselocale(locale()) : nullptr) {}
  ~ShowsUtf8() {
    if (before_ != nullptr) uselocale(before_);
  }
  ShowsUtf8(const ShowsUtf8&) = delete;
  ShowsUtf8& operator=(const ShowsUtf8&) = delete;

 private:
  static locale_t locale() {
    static const locale_t made = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return made;
  }
  locale_t before_;  // null: unchanged, if only because the system has no such locale
};

}  // namespace

ArchiveHandle::ArchiveHandle(ByteStream& source, Reads reads)
    : source_(source),
      handle_(archive_read_new()),
      may_be_zip_(as_text(source.peek()).starts_with("PK")) {
  if (handle_ == nullptr) throw std::bad_alloc();
  // Not archive_read_support_filter_all: it starts programs (lrzip, grzip) for signatures that no
  // dataset uses. gzip is read by open_gunzip, because libarchive does not check gzip's checksum.
  if (reads == Reads::filters) {
    max_at_once_ = std::size_t{16} << 20;  // libarchive's bzip2 counts in 32 bits
    archive_read_support_filter_bzip2(handle_);
    archive_read_support_filter_xz(handle_);
    archive_read_support_filter_zstd(handle_);
    archive_read_support_format_empty(handle_);  // content of no bytes is not raw to libarchive
  } else {
    archive_read_support_format_tar(handle_);
    archive_read_support_format_zip(handle_);
  }
  archive_read_support_format_raw(handle_);
  archive_read_set_read_callback(handle_, on_read);
  archive_read_set_skip_callback(handle_, on_skip);
  if (source.seekable()) archive_read_set_seek_callback(handle_, on_seek);
  archive_read_set_callback_data(handle_, this);
  failed_ = archive_read_open1(handle_) != ARCHIVE_OK;
}

ArchiveHandle::~ArchiveHandle() { archive_read_free(handle_); }

bool ArchiveHandle::next_header() {
  if (failed_) return false;
  const ShowsUtf8 names(may_be_zip_);
  const int code = archive_read_next_header(handle_, &entry_);
  // A warning is about a name that the locale cannot show; the entry itself is intact.
  failed_ = thrown_ || (code != ARCHIVE_OK && code != ARCHIVE_WARN && code != ARCHIVE_EOF);
  return !failed_ && code != ARCHIVE_EOF;
}

std::string ArchiveHandle::name() const {
  const ShowsUtf8 names(may_be_zip_);
  const char* name = archive_entry_pathname(entry_);
  if (name == nullptr) name = archive_entry_pathname_utf8(entry_);
  return name != nullptr ? name : "";
}

bool ArchiveHandle::filtered() const { return archive_filter_count(handle_) > 1; }

bool ArchiveHandle::single() const { return archive_format(handle_) == ARCHIVE_FORMAT_RAW; }

bool ArchiveHandle::is_zip() const {
  return (archive_format(handle_) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_ZIP;
}

bool ArchiveHandle::is_tar() const {
  return (archive_format(handle_) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;
}

bool ArchiveHandle::end_is_marked() const {
  // libarchive accepts a tar that stops between two entries as complete. The end marker is a block
  // of zeros, and reading it moves the position beyond where the next header would be.
  return !is_tar() || archive_filter_bytes(handle_, 0) > archive_read_header_position(handle_);
}

std::uint64_t ArchiveHandle::consumed() const {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(archive_filter_bytes(handle_, 0), 0));
}

bool ArchiveHandle::contiguous() const {
  return is_tar() && archive_entry_sparse_count(entry_) == 0;
}

std::optional<Bytes> ArchiveHandle::next_block() {
  const void* block = nullptr;
  std::size_t size = 0;
  std::int64_t offset = 0;
  const int code = archive_read_data_block(handle_, &block, &size, &offset);
  failed_ = thrown_ || (code != ARCHIVE_OK && code != ARCHIVE_EOF);
  if (failed_) return std::nullopt;
  if (code == ARCHIVE_EOF) return Bytes();
  return Bytes(static_cast<const std::byte*>(block), size);
}

std::optional<std::size_t> ArchiveHandle::read(MutableBytes into) {
  const la_ssize_t count = archive_read_data(handle_, into.data(), into.size());
  failed_ = thrown_ || count == ARCHIVE_FATAL;
  if (failed_ || count < 0) return std::nullopt;
  return static_cast<std::size_t>(count);
}

void ArchiveHandle::fail(const std::string& place, const std::string& what) {
  if (thrown_) std::rethrow_exception(thrown_);
  const char* reason = archive_error_string(handle_);
  feedrate::formats::fail(place, what, ": ", reason != nullptr ? reason : "damaged");
}

template <class Action>
std::int64_t ArchiveHandle::guarded(Action action) noexcept {
  try {
    return action();
  } catch (...) {
    thrown_ = std::current_exception();
    return ARCHIVE_FATAL;
  }
}

long ArchiveHandle::on_read(archive*, void* self, const void** block) {
  auto& handle = *static_cast<ArchiveHandle*>(self);
  return handle.guarded([&] {
    const Bytes bytes = handle.source_.next(handle.max_at_once_);
    *block = bytes.data();
    return static_cast<std::int64_t>(bytes.size());
  });
}

std::int64_t ArchiveHandle::on_skip(archive*, void* self, std::int64_t count) {
  auto& handle = *static_cast<ArchiveHandle*>(self);
  return handle.guarded([&] {
    return static_cast<std::int64_t>(handle.source_.skip(static_cast<std::uint64_t>(count)));
  });
}

std::int64_t ArchiveHandle::on_seek(archive*, void* self, std::int64_t offset, int whence) {
  auto& handle = *static_cast<ArchiveHandle*>(self);
  return handle.guarded([&] {
    const auto size = static_cast<std::int64_t>(handle.source_.size());
    const std::int64_t target = whence == SEEK_END ? size + offset : offset;
    if (whence == SEEK_CUR || target < 0) return std::int64_t{ARCHIVE_FATAL};
    handle.source_.seek(static_cast<std::uint64_t>(target));
    return target;
  });
}

}  // namespace feedrate::formats
