#include "tools/logs/logs.h"

namespace feedrate::tools {

using Clock = std::chrono::steady_clock;

std::vector<WantedLog> no_logs() {
  std::vector<WantedLog> none;
  for (const LogKind* kind : log_kinds()) none.push_back({kind, {}});
  return none;
}

Logs::Logs(const std::vector<WantedLog>& wanted) {
  for (const WantedLog& one : wanted) {
    if (!one.path.empty()) logs_.push_back(one.kind->open(one.path));
  }
}

void Logs::begin(const LoggedRun& run, std::uint64_t per_epoch) {
  per_epoch_ = per_epoch;
  tell([&](TrainingLog& log) { log.begins(run); });
}

void Logs::step_begins(std::uint64_t step, std::uint32_t images) {
  const std::uint64_t number = step / per_epoch_;
  if (epoch_ && epoch_->number != number) end_epoch();
  if (!epoch_) {
    epoch_ = {number, Clock::now()};
    tell([&](TrainingLog& log) { log.epoch_begins(number); });
  }
  epoch_->images += images;
}

void Logs::end_epoch() {
  if (!epoch_) return;
  const std::chrono::duration<double> lasted = Clock::now() - epoch_->start;
  const double rate = static_cast<double>(epoch_->images) / lasted.count();
  tell([&](TrainingLog& log) { log.epoch_ends(epoch_->number, rate); });
  epoch_.reset();
}

void Logs::progress(const LoggedProgress& progress) {
  tell([&](TrainingLog& log) { log.progress(progress); });
}

void Logs::validation_begins(std::uint64_t steps_done) {
  end_epoch();
  tell([&](TrainingLog& log) { log.validation_begins(steps_done / per_epoch_); });
}

void Logs::validated(const LoggedValidation& validation) {
  tell([&](TrainingLog& log) { log.validated(validation); });
}

void Logs::end() {
  end_epoch();
  tell([](TrainingLog& log) { log.ends(); });
}

}  // namespace feedrate::tools
