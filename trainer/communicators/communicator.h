#pragma once
// Processes that train one network together: each computes the gradients of its share of a batch
// and updates with their sum. mpirun or Slurm starts them.

#include <span>
#include <string>

namespace feedrate::trainer {

/// All ranks make the same calls in the same order, each from one thread, and get the same bits.
/// If a rank ends early, its launcher ends all of them.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual unsigned rank() const = 0;
  virtual unsigned ranks() const = 0;

  /// Starts to sum `values` over all ranks, in place; the caller must not touch them until
  /// finish(). Several sums may be in flight.
  virtual void begin_sum(std::span<float> values) = 0;
  /// Advances the sums in flight; call it now and then during other work.
  virtual void progress() = 0;
  /// Waits for all sums in flight.
  virtual void finish() = 0;
  /// Sums `values` over all ranks, in place, and waits for the result.
  virtual void sum(std::span<double> values) = 0;
  /// Waits for every rank. Must be the last call: the process may end after it.
  virtual void close() = 0;
};

/// The communicator of this process: of all ranks that mpirun or srun started, or of itself alone.
/// Throws Error where the process is one of several and MPI cannot be used.
Communicator& world();

}  // namespace feedrate::trainer
