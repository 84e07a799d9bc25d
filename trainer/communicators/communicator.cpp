#include "trainer/communicators/communicator.h"

#include <memory>

#include "trainer/communicators/mpi.h"

namespace feedrate::trainer {
namespace {

/// A single process: its own values are the sums.
class Alone final : public Communicator {
 public:
  unsigned rank() const override { return 0; }
  unsigned ranks() const override { return 1; }
  void begin_sum(std::span<float>) override {}
  void progress() override {}
  void finish() override {}
  void sum(std::span<double>) override {}
  void close() override {}
};

}  // namespace

Communicator& world() {
  static const std::unique_ptr<Communicator> ours =
      launched_with_others() ? join_mpi() : std::make_unique<Alone>();
  return *ours;
}

}  // namespace feedrate::trainer
