#include "converters/synths/zip_writer.h"

#include <archive.h>
#include <archive_entry.h>

#include <exception>
#include <new>

#include "formats/base/error.h"
#include "formats/io/file.h"

namespace feedrate::converters {
using namespace formats;

namespace {

struct FreeArchive {
  void operator()(archive* handle) const { archive_write_free(handle); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

}  // namespace

struct ZipWriter::State {
  explicit State(const std::filesystem::path& path) : file(path), handle(archive_write_new()) {
    if (handle == nullptr) throw std::bad_alloc();
    check(archive_write_set_format_zip(handle.get()));
    check(archive_write_set_options(handle.get(), "zip:compression=store"));
    check(archive_write_set_bytes_in_last_block(handle.get(), 1));
    check(archive_write_open(handle.get(), this, nullptr, on_write, nullptr));
  }

  void check(la_ssize_t code) {
    if (thrown) std::rethrow_exception(thrown);
    if (code < 0) fail(file.path(), archive_error_string(handle.get()));
  }

  static la_ssize_t on_write(archive*, void* self, const void* block, std::size_t size) {
    State& state = *static_cast<State*>(self);
    try {
      state.file.write({static_cast<const std::byte*>(block), size});
      return static_cast<la_ssize_t>(size);
    } catch (...) {
      state.thrown = std::current_exception();
      return -1;
    }
  }

  OutputFile file;
  std::exception_ptr thrown;  // exceptions must not cross libarchive's C frames
  std::unique_ptr<archive, FreeArchive> handle;
};

ZipWriter::ZipWriter(const std::filesystem::path& path) : state_(std::make_unique<State>(path)) {}
ZipWriter::~ZipWriter() = default;

void ZipWriter::add(const std::string& name, Bytes content) {
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  if (entry == nullptr) throw std::bad_alloc();
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0444);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  state_->check(archive_write_header(state_->handle.get(), entry.get()));
  state_->check(archive_write_data(state_->handle.get(), content.data(), content.size()));
}

void ZipWriter::finish() {
  state_->check(archive_write_close(state_->handle.get()));
  state_->file.close();
}

}  // namespace feedrate::converters
