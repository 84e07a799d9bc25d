#include "tools/bench/results_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "formats/error.h"
#include "formats/file.h"

namespace feedrate {

ResultsFile::ResultsFile(const std::filesystem::path& path, Existing existing)
    : path_(path), descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) fail_errno(path, "cannot open for adding rows", errno);
  try {
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      fail(path, "another bench is adding rows to it");
    }
    std::string text = read_text(path);
    if (!text.empty() && existing == Existing::refuse) {
      fail(path,
           "has rows already; --resume adds those that are missing, another --out starts anew");
    }
    const std::size_t whole = text.rfind('\n') + 1;  // 0 when there is no line end at all
    if (whole != text.size() && ftruncate(descriptor_, static_cast<off_t>(whole)) != 0) {
      fail_errno(path, "cannot cut off its unfinished last line", errno);
    }
    if (whole > 0) rows_ = read_runs(path);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

ResultsFile::~ResultsFile() { close(descriptor_); }

void ResultsFile::add(const Run& run) {
  const std::string line = to_json_line(run) + "\n";
  const ssize_t written = write(descriptor_, line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size())) {
    fail_errno(path_, "cannot add a row", written < 0 ? errno : ENOSPC);
  }
  fsync(descriptor_);
}

}  // namespace feedrate
