#include "tools/bench/results_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "formats/error.h"

namespace feedrate {

ResultsFile::ResultsFile(const std::filesystem::path& path, Existing existing)
    : path_(path), file_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (!file_) fail_errno(path, "cannot open for adding rows", errno);
  if (flock(file_.number(), LOCK_EX | LOCK_NB) != 0) {
    fail(path, "another bench is adding rows to it");
  }
  const std::string text = read_text(path);
  if (!text.empty() && existing == Existing::refuse) {
    fail(path, "has rows already; --resume adds those that are missing, another --out starts anew");
  }
  const std::size_t whole = text.rfind('\n') + 1;  // 0 when there is no line end at all
  if (whole != text.size() && ftruncate(file_.number(), static_cast<off_t>(whole)) != 0) {
    fail_errno(path, "cannot cut off its unfinished last line", errno);
  }
  if (whole > 0) rows_ = read_runs(path);
}

void ResultsFile::add(const Run& run) {
  const std::string line = to_json_line(run) + "\n";
  const ssize_t written = write(file_.number(), line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size())) {
    fail_errno(path_, "cannot add a row", written < 0 ? errno : ENOSPC);
  }
  fsync(file_.number());
}

}  // namespace feedrate
