#include "tools/logs/load_metrics.h"

#include "formats/base/error.h"
#include "formats/io/file.h"
#include "formats/io/replace.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;

LoadMetrics::LoadMetrics(std::filesystem::path file, const std::filesystem::path& dataset)
    : file_(std::move(file)), text_({{"dataset", dataset.string()}}) {
  if (!file_.empty()) replaceable(file_);
}

LoadMetrics::~LoadMetrics() {
  if (!running_) return;
  running_ = false;
  try {
    write(last_);
  } catch (const Error&) {
    // The reason why loading ended is told already.
  }
}

void LoadMetrics::update(const LoaderStats& stats) noexcept {
  last_ = stats;
  constexpr std::chrono::seconds least_age{1};  // scrapes come less often, and a disk is waited for
  if (std::chrono::steady_clock::now() - written_ < least_age) return;
  try {
    write(stats);
  } catch (const std::exception&) {
    // A disk may be full for a while: the next second, and the end, try again.
  }
}

void LoadMetrics::end(const LoaderStats& stats) {
  running_ = false;
  write(stats);
}

void LoadMetrics::write(const LoaderStats& stats) {
  if (file_.empty()) return;
  text_.gauge("load_running", "1 while loading goes on, 0 when it has ended.", running_);
  text_.gauge("load_threads", "Loader threads at work.", stats.threads);
  text_.counter("load_images_total", "Images handed out.", static_cast<double>(stats.images));
  text_.counter("load_batches_total", "Batches handed out.", static_cast<double>(stats.batches));
  text_.counter("load_read_bytes_total", "Encoded bytes read.",
                static_cast<double>(stats.bytes_read));
  text_.counter("load_wait_seconds_total", "Time that the consumer waited.", stats.wait_seconds);
  text_.counter("load_read_seconds_total", "Workers' time spent reading.", stats.busy_read);
  text_.counter("load_decode_seconds_total", "Workers' time spent decoding.", stats.busy_decode);
  text_.counter("load_augment_seconds_total", "Workers' time spent augmenting.",
                stats.busy_augment);
  text_.counter("load_bad_seats_total", "Seats of bad samples, replaced or skipped.",
                static_cast<double>(stats.bad_seats));
  write_text(file_, text_.take());
  written_ = std::chrono::steady_clock::now();
}

}  // namespace feedrate::tools
