#include "loader/tuning/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace feedrate::loader {
namespace {

// A consumer that waits less than this is fed; threads that bring less than this bring nothing.
// Shorter waits and gains cannot be told from chance in a window.
constexpr double little = 0.03;
// Work comes unevenly: workers that had no time to spare would be late half of the time.
constexpr double spare = 1.05;
// So much, relative, must the need for workers change before the search starts anew.
constexpr double change = 0.25;
// Where the consumer computes nothing at all, its demand is a number without meaning.
constexpr double no_limit = 1000;

std::string ordinal(unsigned number) {
  const unsigned last = number % 100 / 10 == 1 ? 0 : number % 10;
  return fmt::format("{}{}", number, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

std::string threads_text(unsigned threads) {
  return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

}  // namespace

const ThreadsTried* Tuning::knee() const {
  double best = 0;
  for (const ThreadsTried& one : tried) best = std::max(best, one.images_per_second);
  for (const ThreadsTried& one : tried) {
    if (one.images_per_second >= best * (1 - little)) return &one;
  }
  return nullptr;
}

std::string Tuning::text() const {
  const ThreadsTried* found = knee();
  if (found == nullptr) {
    return fmt::format("{}: too short a run to tell how many are best", threads_text(threads));
  }
  const char* is = found->threads == 1 ? "s" : "";
  std::string text;
  if (found->waited <= little) {
    text = fmt::format("{} keep{} the consumer fed, whose images are {:.2g} threads' work",
                       threads_text(found->threads), is, need);
    if (found->threads < most)
      text += fmt::format("; a {} brings nothing", ordinal(found->threads + 1));
  } else if (found->threads == most) {
    text =
        fmt::format("{} give{} most, and more there may not be", threads_text(found->threads), is);
    if (need < no_limit)
      text += fmt::format("; the consumer's images are {:.2g} threads' work", need);
  } else {
    text = fmt::format("{} give{} as many images as more do: something else limits",
                       threads_text(found->threads), is);
  }
  return settled ? text : text + " (the search was not over)";
}

namespace detail {

Tuner::Tuner(unsigned threads, unsigned most, unsigned depth) : depth_(depth) {
  tuning_.threads = threads;
  tuning_.most = std::max(threads, most);
  tuning_.tried.reserve(tuning_.most);  // nothing is allocated later
  due_batches_ = depth;                 // what start-up costs is no image's cost
}

void Tuner::start_waiting(std::uint64_t now_ns, std::uint64_t batches, std::uint64_t span_ns,
                          std::uint64_t count) {
  due_ns_ = now_ns + span_ns;
  due_batches_ = batches + count;
}

unsigned Tuner::look(const TunerSums& sums) {
  if (!from_) {
    from_ = sums;
    start_waiting(sums.now_ns, sums.batches, window_ns, 2 * std::uint64_t{depth_});
    return tuning_.threads;
  }
  const unsigned next = measure(sums) ? choose() : tuning_.threads;
  if (next == tuning_.threads) {
    from_ = sums;
    start_waiting(sums.now_ns, sums.batches, window_ns, 2 * std::uint64_t{depth_});
  } else {
    tuning_.threads = next;
    from_.reset();
    start_waiting(sums.now_ns, sums.batches, 0, depth_);
  }
  return next;
}

void Tuner::limit(unsigned most) {
  tuning_.most = tuning_.threads = std::max(1U, most);
  std::erase_if(tuning_.tried, [&](const ThreadsTried& one) { return one.threads > most; });
}

bool Tuner::measure(const TunerSums& sums) {
  const auto span = [](std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(to - from) * 1e-9;
  };
  const double elapsed = span(from_->now_ns, sums.now_ns);
  const double waited = std::min(elapsed, span(from_->wait_ns, sums.wait_ns));
  const auto filled = static_cast<double>(std::max<std::uint64_t>(1, sums.filled - from_->filled));
  const auto taken = static_cast<double>(sums.images - from_->images);
  tuning_.read = span(from_->read_ns, sums.read_ns) / filled;
  tuning_.decode = span(from_->decode_ns, sums.decode_ns) / filled;
  tuning_.augment = span(from_->augment_ns, sums.augment_ns) / filled;
  tuning_.demand = taken / std::max(elapsed - waited, 1e-9);
  tuning_.need = tuning_.demand * (tuning_.read + tuning_.decode + tuning_.augment);
  if (tuning_.settled && std::abs(tuning_.need - settled_need_) > change * settled_need_ &&
      predicted() != tuning_.threads) {
    tuning_.settled = false;
    tuning_.tried.clear();
    return false;  // part of the window was as before
  }
  const ThreadsTried now{tuning_.threads, taken / elapsed, waited / elapsed};
  const auto at = std::ranges::lower_bound(tuning_.tried, now.threads, {}, &ThreadsTried::threads);
  if (at != tuning_.tried.end() && at->threads == now.threads) {
    *at = now;
  } else {
    tuning_.tried.insert(at, now);
  }
  return true;
}

unsigned Tuner::predicted() const {
  const double threads = std::ceil(std::min(tuning_.need * spare, no_limit));
  return std::clamp(static_cast<unsigned>(threads), 1U, tuning_.most);
}

const ThreadsTried* Tuner::tried(unsigned threads) const {
  const auto at = std::ranges::find(tuning_.tried, threads, &ThreadsTried::threads);
  return at == tuning_.tried.end() ? nullptr : &*at;
}

// The prediction first; then, from the best so far, one more where the consumer waits, and one
// fewer where that may do as well.
unsigned Tuner::choose() {
  if (tuning_.settled) return tuning_.threads;
  if (tried(predicted()) == nullptr) return predicted();
  const ThreadsTried knee = *tuning_.knee();
  const unsigned fewer = knee.threads - 1, more = knee.threads + 1;
  const bool fed = knee.waited <= little;
  if (!fed && more <= tuning_.most && tried(more) == nullptr) return more;
  if (fewer > 0 && tried(fewer) == nullptr && (!fed || tuning_.need <= fewer)) return fewer;
  tuning_.settled = true;
  settled_need_ = tuning_.need;
  return knee.threads;
}

}  // namespace detail
}  // namespace feedrate::loader
