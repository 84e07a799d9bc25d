#pragma once
// Processes that train one network together: each computes the gradients of its share of a batch,
// and learns from their sum. mpirun or Slurm starts them.

#include <span>
#include <string>

namespace feedrate::trainer {

/// All ranks make the same calls in the same order; one thread of each. Every rank gets the same
/// bits. A rank that ends without the others ends them all: by what started them.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual unsigned rank() const = 0;
  virtual unsigned ranks() const = 0;

  /// Begins to add `values` up over all ranks, in place; they are the communicator's until
  /// finish(). Several may be on their way.
  virtual void begin_sum(std::span<float> values) = 0;
  /// Lets what was begun go on; call it now and then between two pieces of work.
  virtual void progress() = 0;
  /// Waits for all that was begun.
  virtual void finish() = 0;
  /// Adds up at once.
  virtual void sum(std::span<double> values) = 0;
  /// Waits for every rank. The last call: the process may end after it.
  virtual void close() = 0;
};

/// This process' own: of all ranks that mpirun or srun started, or of itself alone. Throws Error
/// where it was started as one of several and MPI cannot be used.
Communicator& world();

}  // namespace feedrate::trainer
