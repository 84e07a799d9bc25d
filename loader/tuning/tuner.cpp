#include "loader/tuning/tuner.h"

#include <algorithm>
#include <cmath>

namespace feedrate::loader {
namespace {

// Smaller waits and gains are noise in one window. A consumer that waits for a smaller share of the
// time is fed; a thread that gains less gains nothing.
constexpr double negligible_share = 0.03;
// Work arrives unevenly: workers without any headroom would be late half of the time.
constexpr double headroom = 1.05;
// The relative change of `need` that starts the search again.
constexpr double significant_change = 0.25;
// A higher need means that the consumer does no work of its own: its demand is unlimited.
constexpr double max_need = 1000;

}  // namespace

const ThreadsTried* Tuning::knee() const {
  double best = 0;
  for (const ThreadsTried& one : tried) best = std::max(best, one.images_per_second);
  for (const ThreadsTried& one : tried) {
    if (one.images_per_second >= best * (1 - negligible_share)) return &one;
  }
  return nullptr;
}

Tuning::Outcome Tuning::outcome() const {
  const ThreadsTried* const found = knee();
  if (found == nullptr) return Outcome::too_short;
  if (found->waited <= negligible_share) return Outcome::fed;
  return found->threads == max_threads ? Outcome::at_limit : Outcome::no_gain;
}

bool Tuning::is_need_known() const { return !tried.empty() && need < max_need; }

namespace detail {

Tuner::Tuner(unsigned threads, unsigned max_threads, unsigned depth) : depth_(depth) {
  tuning_.threads = threads;
  tuning_.max_threads = std::max(threads, max_threads);
  tuning_.tried.reserve(tuning_.max_threads);  // nothing is allocated later
  due_batches_ = depth;                        // leaves out the costs of start-up
}

void Tuner::start_waiting(std::uint64_t now_ns, std::uint64_t batches, std::uint64_t span_ns,
                          std::uint64_t count) {
  due_ns_ = now_ns + span_ns;
  due_batches_ = batches + count;
}

unsigned Tuner::update(const TunerSums& sums) {
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

void Tuner::limit(unsigned max_threads) {
  tuning_.max_threads = tuning_.threads = std::max(1U, max_threads);
  std::erase_if(tuning_.tried, [&](const ThreadsTried& one) { return one.threads > max_threads; });
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
  if (tuning_.settled &&
      std::abs(tuning_.need - settled_need_) > significant_change * settled_need_ &&
      predicted() != tuning_.threads) {
    tuning_.settled = false;
    tuning_.tried.clear();
    return false;  // part of the window was before the change
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
  const double threads = std::ceil(std::min(tuning_.need * headroom, max_need));
  return std::clamp(static_cast<unsigned>(threads), 1U, tuning_.max_threads);
}

const ThreadsTried* Tuner::tried(unsigned threads) const {
  const auto at = std::ranges::find(tuning_.tried, threads, &ThreadsTried::threads);
  return at == tuning_.tried.end() ? nullptr : &*at;
}

// The prediction first. Then, from the best number so far, one more if the consumer waits, and one
// fewer if that may be enough.
unsigned Tuner::choose() {
  if (tuning_.settled) return tuning_.threads;
  if (tried(predicted()) == nullptr) return predicted();
  const ThreadsTried knee = *tuning_.knee();
  const unsigned fewer = knee.threads - 1, more = knee.threads + 1;
  const bool fed = knee.waited <= negligible_share;
  if (!fed && more <= tuning_.max_threads && tried(more) == nullptr) return more;
  if (fewer > 0 && tried(fewer) == nullptr && (!fed || tuning_.need <= fewer)) return fewer;
  tuning_.settled = true;
  settled_need_ = tuning_.need;
  return knee.threads;
}

}  // namespace detail
}  // namespace feedrate::loader
