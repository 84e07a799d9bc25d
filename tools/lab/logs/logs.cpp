#include "tools/lab/logs/logs.h"

#include <fmt/format.h>
#include <unistd.h>

#include "formats/io/file.h"
#include "formats/io/replace.h"

namespace feedrate::tools {
using namespace formats;

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// TensorBoard looks for "tfevents"; the process id distinguishes runs begun in the same second.
static fs::path file_in(const fs::path& directory) {
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) fail(directory, "cannot create the directory: ", failed.message());
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return directory / fmt::format("events.out.tfevents.{}.feedrate.{}",
                                 std::chrono::floor<std::chrono::seconds>(now).count(), getpid());
}

struct Logs::File {
  File(const LogKind& its_kind, const fs::path& its_path) : kind(its_kind), path(its_path) {
    if (kind.replaces) {
      replaceable(path);
    } else {
      stream.emplace(kind.place == "DIR" ? file_in(path) : path);
    }
  }
  void write(const Event& event) {
    if (ended) return;
    ended = event.type == "end";
    if (!stream) return replace(event);
    stream->write(kind.bytes(event));
    stream->flush();
    if (ended) stream->close();
  }
  void replace(const Event& event) {
    // Replacing waits for the disk, and Prometheus reads the file only every few seconds.
    constexpr std::chrono::seconds least_age{1};
    const bool can_wait = event.type == "progress";
    if (can_wait && Clock::now() - replaced < least_age) return;
    const std::string text = kind.bytes(event);
    if (text.empty()) return;
    try {
      write_text(path, text);
      replaced = Clock::now();
    } catch (const Error&) {
      if (!can_wait) throw;  // a disk may be full for a moment: no reason to end a run
    }
  }

  const LogKind& kind;
  fs::path path;
  std::optional<OutputFile> stream;  // absent: the file is replaced
  Clock::time_point replaced{};
  bool ended = false;
};

Logs::Logs(const LogPaths& paths) {
  for (const LogKind& kind : log_kinds) {
    const auto path = paths.find(kind.name);
    if (path == paths.end() || path->second.empty()) continue;
    files_.push_back(std::make_unique<File>(kind, path->second));
  }
  emit("init", {});
}

Logs::~Logs() {
  event_.become("end", {{"status", "aborted"}});
  for (const auto& file : files_) {  // logs that have ended ignore it
    try {
      file->write(event_);
    } catch (const Error&) {
      // The reason for the failure has been reported; a full disk matters less.
    }
  }
}

void Logs::emit(std::string_view type, Fields fields) {
  event_.become(type, std::move(fields));
  for (const auto& file : files_) file->write(event_);
}

void Logs::begin(Fields run, std::uint64_t per_epoch) {
  per_epoch_ = per_epoch;
  emit("start", std::move(run));
}

void Logs::step_begins(std::uint64_t step, std::uint32_t images) {
  const std::uint64_t number = step / per_epoch_;
  if (epoch_ && epoch_->number != number) end_epoch();
  if (!epoch_) {
    epoch_ = {number, Clock::now()};
    emit("epoch_start", {{"epoch", number}});
  }
  epoch_->images += images;
}

void Logs::end_epoch() {
  if (!epoch_) return;
  const std::chrono::duration<double> lasted = Clock::now() - epoch_->start;
  const double rate = static_cast<double>(epoch_->images) / lasted.count();
  emit("epoch_end", {{"epoch", epoch_->number}, {"images_per_second", rate}});
  epoch_.reset();
}

void Logs::validation_begins(std::uint64_t steps_done) {
  end_epoch();
  emit("validation_start", {{"epoch", steps_done / per_epoch_}});
}

void Logs::end() {
  end_epoch();
  emit("end", {{"status", "success"}});
}

}  // namespace feedrate::tools
