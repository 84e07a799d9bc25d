#pragma once
// What limits a training: the one place that decides it, for every command and report. Pure
// functions.

#include <cstdint>
#include <optional>
#include <string_view>

#include "loader/loader.h"

namespace feedrate::loader {

/// The bottleneck.
enum class Limit : std::uint8_t {
  trainer,  // it gets about all that it can take
  upload,   // the same, but copies to the device hold it up
  read,     // the loader, …
  network,  // … reading from a server,
  decode,   // … which spends most of its time
  augment,  // … in this stage
  loader,   // the loader; its stages were not measured
  cores,    // alone, the loader is fast enough, but it shares cores with the trainer
  unknown,  // too little was measured, or nothing that was explains it
};
/// "trainer"
std::string_view name(Limit limit);
/// Whether loading is not the bottleneck.
bool is_fed(Limit limit);
/// Whether the loader waits for a disk or a server, so that no number of cores helps.
bool waits_for_data(Limit limit);

/// images/s, and how far its repeats lie apart.
struct Rate {
  double value = 0;
  double spread = 0;  // (fastest − slowest) / value; 0 for a single repeat
};

/// Loading is not the bottleneck where it costs the trainer at most this share of its demand: no other choice
/// can win more.
inline constexpr double max_loss = 0.10;

/// Smaller relative differences count as none.
inline constexpr double min_tolerance = 0.03;
/// A wider spread of repeats means a noisy machine, not equal rates.
inline constexpr double max_tolerance = 0.10;

/// Whether `rate` is as good as `best`: within the spread of their repeats, which counts as at least
/// min_tolerance and at most max_tolerance.
bool as_fast_as(const Rate& rate, const Rate& best);

/// A trainer cannot get more than its demand: beyond this share of it, one of the two measurements was disturbed.
inline constexpr double max_share_of_demand = 1.05;

/// What `threads` count, in sentences, unless they are another loader's.
inline constexpr std::string_view loader_thread = "loader thread";

/// All that the decision is made from. What was not measured is absent or 0.
struct Figures {
  std::string_view worker = loader_thread;  // what `threads` counts
  std::optional<Rate> supply{};             // of the loader alone
  std::optional<Rate> demand{};     // of the trainer alone; absent: estimated from the stall
  std::optional<Rate> compute{};    // demand without copies to the device
  std::optional<Rate> delivered{};  // of both together
  std::optional<double> stall{};    // share of the trainer's time in which it has no batch
  unsigned threads = 0;             // of the loader; 0: the trainer loads each batch itself
  unsigned most_threads = 0;        // that were considered and do not deliver clearly more
  unsigned computing = 0;           // threads of the trainer; 1 drives a device
  unsigned cores = 0;               // that all these threads share
  bool remote = false;              // samples come from a server
  double read = 0;  // worker-seconds for an image, waiting for a disk or server included
  double decode = 0;
  double augment = 0;
  double loader_cpu = 0;   // CPU time of the loader alone for an image, in seconds; 0: not measured
  double trainer_cpu = 0;  // of the trainer alone
};

/// Whether more was delivered than max_share_of_demand allows.
bool exceeds_demand(const Figures& figures);

/// From a loader's own counters: supply as if the workers never waited, demand as if the trainer
/// never did. Nothing is measured before an image was handed out.
Figures figures_of(const LoaderStats& stats, unsigned threads);

/// What would deliver more, beside images that load faster.
enum class Remedy : std::uint8_t {
  none,  // the trainer is fed, more threads were tried, or the limit is unknown
  first_thread,
  threads,
  cores,
};

/// Facts; whoever prints them makes the sentences.
struct Verdict {
  Limit limit = Limit::unknown;
  Remedy remedy = Remedy::none;
  std::optional<Rate> demand{};  // of the figures, or estimated where that is exceeded or not known
  std::optional<double> loss{};  // see loss_of()
  Figures figures{};
};

/// The share of its demand that the trainer loses by loading, from 0 to 1. The stall counts, which was measured
/// within the run. Where loader and trainer share cores, so do the cores that the loader takes, and what is
/// delivered short of demand by more than the spread of both: these were measured in different runs. Without a
/// stall, all that is short counts. Nothing where neither is known.
std::optional<double> loss_of(const Figures& figures);

/// The trainer is the limit where loading costs at most max_loss. Otherwise the limit is the loader where it
/// alone is slower than the trainer, and the cores where the loader alone is faster but both have more threads
/// than there are cores. Without threads the trainer loads: that is work, not waiting.
Verdict judge(const Figures& figures);

}  // namespace feedrate::loader
