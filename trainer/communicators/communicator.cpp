#include "trainer/communicators/communicator.h"

#include <cstdlib>
#include <memory>
#include <vector>

#include "formats/base/error.h"
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
  void answer_others() override {}
  std::uint64_t take() override { return stopped_ ? no_more : taken_++; }
  void stop_taking() override { stopped_ = true; }
  void wait_for_all() override {}
  void close() override {}

 private:
  std::uint64_t taken_ = 0;
  bool stopped_ = false;
};

}  // namespace

// A sum to which the others add nothing.
std::string Communicator::of_first(const std::string& text) {
  double size = rank() == 0 ? static_cast<double>(text.size()) : 0;
  sum({&size, 1});
  std::vector<double> letters(static_cast<std::size_t>(size));
  if (rank() == 0) {
    for (std::size_t i = 0; i < letters.size(); ++i)
      letters[i] = static_cast<double>(static_cast<unsigned char>(text[i]));
  }
  sum(letters);
  std::string result;
  for (const double letter : letters) result += static_cast<char>(static_cast<int>(letter));
  return result;
}

namespace {

// Each would train the whole network alone, and write to the same files.
void refuse_other_launchers() {
  const char* rank = std::getenv("RANK");
  const char* size = std::getenv("WORLD_SIZE");
  if (rank == nullptr || size == nullptr || std::atoi(size) < 2) return;
  throw formats::Error(formats::join(
      "RANK and WORLD_SIZE say that this is process ", rank, " of ", size,
      ", but processes find each other by MPI alone, not by MASTER_ADDR: start them with mpirun or "
      "srun --mpi=pmix instead of torchrun"));
}

std::unique_ptr<Communicator> join_others() {
  if (launched_with_others()) return join_mpi();
  refuse_other_launchers();
  return std::make_unique<Alone>();
}

}  // namespace

Communicator& world() {
  static const std::unique_ptr<Communicator> ours = join_others();
  return *ours;
}

}  // namespace feedrate::trainer
