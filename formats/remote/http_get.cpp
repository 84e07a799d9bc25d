#include "formats/remote/http_get.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "formats/base/error.h"
#include "formats/base/stop.h"
#include "formats/remote/retries.h"

namespace feedrate::formats {
namespace {

constexpr unsigned near_attempts = 3;  // of a host that answers at once

void wait_unless_stopped(std::chrono::milliseconds left) {
  constexpr std::chrono::milliseconds step{50};
  for (; left.count() > 0; left -= step) {
    throw_if_stop_requested();
    std::this_thread::sleep_for(std::min(left, step));
  }
}

}  // namespace

HttpAnswer http_get(const std::function<HttpRequest()>& request, const std::string& shown,
                    std::uint64_t max_bytes) {
  Exchange exchange;
  Retries retries;
  std::random_device random;
  for (;;) {
    throw_if_stop_requested();
    const HttpRequest asked_for = request();
    exchange.prepare(asked_for, max_bytes);
    const int code = exchange.perform();
    throw_if_stop_requested();
    const Outcome outcome = exchange.outcome(code);
    if (outcome.kind == Outcome::Kind::done) return exchange.answer();
    if (outcome.was_silent) retries.add_silence();
    const bool enough = asked_for.is_near && retries.failed() + 1 == near_attempts;
    const auto wait = outcome.kind == Outcome::Kind::repeat && !enough
                          ? retries.next(random(), exchange.answer().retry_after_seconds)
                          : std::nullopt;
    if (!wait) {
      const unsigned asked = retries.failed() + 1;
      fail(shown, outcome.reason, asked == 1 ? "" : join("; asked ", asked, " times"));
    }
    wait_unless_stopped(*wait);
  }
}

}  // namespace feedrate::formats
