#include "tools/lab/logs/log_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "formats/base/error.h"
#include "formats/io/replace.h"

namespace feedrate::tools {
using namespace formats;

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// TensorBoard looks for "tfevents"; the process id distinguishes runs begun in the same second.
fs::path file_in(const fs::path& directory) {
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) fail(directory, "cannot create the directory: ", failed.message());
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return directory / fmt::format("events.out.tfevents.{}.feedrate.{}",
                                 std::chrono::floor<std::chrono::seconds>(now).count(), getpid());
}

/// A file that is replaced keeps no lock, so another one beside it does.
fs::path lock_path_of(const LogKind& kind, const fs::path& path) {
  if (kind.place == "DIR" || is_device(path)) return {};
  return kind.replaces ? replaceable(path) += ".lock" : path;
}

/// Where there are no locks, goes on without.
Descriptor locked(const fs::path& lock_path, const fs::path& path) {
  if (lock_path.empty()) return {};
  constexpr mode_t everybody = 0666;
  for (;;) {
    Descriptor file(::open(lock_path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, everybody));
    if (!file) fail_errno(lock_path, "cannot create", errno);
    if (flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      fail(path, "another process keeps its log there; give each a file of its own");
    }
    if (is_named(file, lock_path)) return file;
  }
}

/// The bytes of the whole lines in a file. A run that was killed may have torn the last one.
std::uint64_t whole_lines(const LogKind& kind, const fs::path& path) {
  const std::string text = read_text(path);
  const std::size_t whole = text.rfind('\n') + 1;  // 0 when there is no line end at all
  for (const std::string_view line :
       {std::string_view(text), std::string_view(text).substr(whole)}) {
    // A file given by mistake stays as it was.
    if (line.substr(0, kind.line.size()) == kind.line.substr(0, line.size())) continue;
    fail(path, "is no --", kind.name, " to go on with: expected lines that begin with '", kind.line,
         "'");
  }
  return whole;
}

}  // namespace

LogFile::LogFile(const LogKind& kind, const fs::path& path, EarlierLines earlier)
    : kind_(kind),
      path_(path),
      lock_path_(lock_path_of(kind, path)),
      lock_(locked(lock_path_, path)) {
  if (kind.replaces) {
    replaceable(path);
  } else if (kind.place == "DIR") {
    stream_.emplace(file_in(path));
  } else if (earlier == EarlierLines::keep && lock_) {
    stream_.emplace(path, whole_lines(kind, path));
  } else {
    stream_.emplace(path);
  }
}

LogFile::~LogFile() {
  if (kind_.replaces && lock_) unlink(lock_path_.c_str());
}

void LogFile::write(const Event& event) {
  if (ended_) return;
  ended_ = event.type == "end";
  if (!stream_) return replace(event);
  stream_->write(kind_.bytes(event));
  stream_->flush();
  if (ended_) stream_->close();
}

void LogFile::replace(const Event& event) {
  // Replacing waits for the disk, and Prometheus reads the file only every few seconds.
  constexpr std::chrono::seconds least_age{1};
  const bool can_wait = event.type == "progress";
  if (can_wait && Clock::now() - replaced_ < least_age) return;
  const std::string text = kind_.bytes(event);
  if (text.empty()) return;
  try {
    write_text(path_, text);
    replaced_ = Clock::now();
  } catch (const Error&) {
    if (!can_wait) throw;  // a disk may be full for a moment: no reason to end a run
  }
}

}  // namespace feedrate::tools
