#pragma once
// Processes (ranks) that work together, as mpirun, Slurm or torchrun starts them. To train one
// network, each computes the gradients of its share of a batch and learns from the sum of all; to
// convert one dataset, each takes the next piece.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace feedrate::trainer {

/// Unless stated otherwise, all ranks make the same calls in the same order, each from one thread.
/// All ranks get the same bits. If a rank ends early, the launcher ends the others, or calls throw
/// Error that names it.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual unsigned rank() const = 0;
  virtual unsigned ranks() const = 0;

  /// Starts to sum `values` over all ranks, in place. Leave them alone until finish(). Several sums
  /// may be under way.
  virtual void begin_sum(std::span<float> values) = 0;
  /// Advances the sums under way; call it from time to time between computations.
  virtual void progress() = 0;
  /// Waits for all sums under way.
  virtual void finish() = 0;
  /// Sums `values` over all ranks, in place, and waits.
  virtual void sum(std::span<double> values) = 0;
  /// Sets `bytes`, of which all ranks have as many, to those of the first rank.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  /// The first rank's text, for all ranks.
  std::string of_first(std::string text);

  /// The next of the numbers 0, 1, 2 …, each of which one rank gets, or no_more. For one rank
  /// alone, at any time; it waits until the first rank calls answer_others() or wait_for_all().
  virtual std::uint64_t take() = 0;
  /// Gives those that wait in take() their numbers, and returns at once. The first rank calls it
  /// often while it is at its own work.
  virtual void answer_others() = 0;
  /// From now on, take() is no_more for every rank.
  virtual void stop_taking() = 0;
  static constexpr std::uint64_t no_more = ~std::uint64_t{0};
  /// Waits for every rank, however long, and leaves the processor to others meanwhile.
  virtual void wait_for_all() = 0;

  /// Calls `body` from another thread once a rank is known to have ended early, or at once where it
  /// is known already: it wakes a wait outside this communicator. Where the launcher ends all ranks
  /// then, it is never called. An empty one replaces the last, which does not run after this returns.
  virtual void when_lost(std::function<void()> body) { static_cast<void>(body); }
  /// Throws Error naming a rank that is known to have ended early. For any thread, at any time.
  virtual void expect_all_there() const {}

  /// Waits for every rank. The last call: the process may end after it.
  virtual void close() = 0;
};

/// The communicator of this process: with all ranks that torchrun, mpirun or srun started, or of
/// this process alone. Throws Error if it was started as one of several and cannot join the others.
Communicator& world();

/// Whether mpirun or srun started this process as one of several: world() then joins them.
bool launched_with_others();

}  // namespace feedrate::trainer
