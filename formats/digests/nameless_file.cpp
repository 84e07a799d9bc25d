#include "formats/digests/nameless_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstdlib>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

Descriptor open_in(const std::filesystem::path& directory) {
  Descriptor file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  // Network file systems know no O_TMPFILE.
  std::string name = (directory / ".feedrate-XXXXXX").string();
  file = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) fail_errno(directory, "cannot make a file in it", errno);
  ::unlink(name.c_str());
  return file;
}

}  // namespace

NamelessFile::NamelessFile(const std::filesystem::path& directory)
    : directory_(directory), file_(open_in(directory)) {}

void NamelessFile::append(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(file_.number(), bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_errno(directory_, "cannot write a file in it", errno);
    size_ += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void NamelessFile::read(std::uint64_t at, MutableBytes into) const {
  assert(at + into.size() <= size_);
  while (!into.empty()) {
    const ssize_t count = ::pread(file_.number(), into.data(), into.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_errno(directory_, "cannot read a file in it", errno);
    if (count == 0) fail(directory_, "a file in it ended at byte ", at, " of ", size_);
    at += static_cast<std::uint64_t>(count);
    into = into.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace feedrate::formats
