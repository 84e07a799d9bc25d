#pragma once
// Processes (ranks) that train one network together: each computes the gradients of its share of a
// batch and learns from the sum of all. mpirun or Slurm starts them.

#include <span>
#include <string>

namespace feedrate::trainer {

/// All ranks make the same calls in the same order, each from one thread. All ranks get the same
/// bits. If a rank ends early, the launcher ends the others.
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
  /// Waits for every rank. The last call: the process may end after it.
  virtual void close() = 0;
};

/// The communicator of this process: with all ranks that mpirun or srun started, or of this process
/// alone. Throws Error if it was started as one of several and MPI cannot be used.
Communicator& world();

}  // namespace feedrate::trainer
