#include "tools/lab/logs/logs.h"

#include "formats/base/error.h"

namespace feedrate::tools {
using namespace formats;

using Clock = std::chrono::steady_clock;

Logs::Logs(const LogPaths& paths, EarlierLines earlier) {
  for (const LogKind& kind : log_kinds) {
    const auto path = paths.find(kind.name);
    if (path == paths.end() || path->second.empty()) continue;
    files_.push_back(std::make_unique<LogFile>(kind, path->second, earlier));
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
