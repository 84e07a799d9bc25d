#include "tools/lab/bench/results_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "formats/base/error.h"
#include "formats/base/text.h"

namespace feedrate::tools {
using namespace formats;

namespace {

constexpr int open_flags = O_RDWR | O_APPEND | O_CLOEXEC;

std::vector<Row> parse_rows(std::string_view text, const std::filesystem::path& path) {
  std::vector<Row> rows;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (!line.empty()) rows.push_back(parse_row(line, path, number));
  }
  return rows;
}

// Only a row of ours may be cut off: a file given by mistake stays as it was.
bool may_begin_row(std::string_view text) {
  constexpr std::string_view begin = R"({"schema":)";
  return text.substr(0, begin.size()) == begin.substr(0, text.size());
}

}  // namespace

ResultsFile::ResultsFile(const std::filesystem::path& path, Existing existing)
    : path_(path), file_(open(path.c_str(), open_flags)) {
  if (!file_ && errno == ENOENT) {
    file_ = Descriptor(open(path.c_str(), open_flags | O_CREAT, 0644));
    created_empty_ = static_cast<bool>(file_);
  }
  if (!file_) fail_errno(path, "cannot open for adding rows", errno);
  if (flock(file_.number(), LOCK_EX | LOCK_NB) != 0) {
    fail(path, "another bench is adding rows to it");
  }
  const std::string text = read_text(path);
  if (!text.empty() && existing == Existing::refuse) {
    fail(path, "has rows already; --resume adds those that are missing, another --out starts anew");
  }
  const std::size_t whole = text.rfind('\n') + 1;  // 0 when there is no line end at all
  rows_ = parse_rows(std::string_view(text).substr(0, whole), path);
  if (!may_begin_row(std::string_view(text).substr(whole))) {
    fail(path, "does not end in a row of results; is it another file?");
  }
  if (whole != text.size() && ftruncate(file_.number(), static_cast<off_t>(whole)) != 0) {
    fail_errno(path, "cannot cut off its unfinished last line", errno);
  }
}

ResultsFile::~ResultsFile() {
  if (created_empty_) unlink(path_.c_str());
}

void ResultsFile::add(const Row& row) {
  const std::string line = to_json_line(row) + "\n";
  created_empty_ = false;
  const ssize_t written = write(file_.number(), line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size())) {
    fail_errno(path_, "cannot add a row", written < 0 ? errno : ENOSPC);
  }
  // Pipes and devices cannot be synced, and need no sync.
  if (fsync(file_.number()) != 0 && errno != EINVAL && errno != EROFS) {
    fail_errno(path_, "a row cannot reach the disk", errno);
  }
}

}  // namespace feedrate::tools
