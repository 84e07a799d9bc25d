#include "trainer/communicators/mpi.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "formats/base/bytes.h"
#include "formats/base/error.h"
#include "trainer/communicators/mpi_plugin.h"
#include "trainer/communicators/plugin_path.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

namespace fs = std::filesystem;

// The variables in which Open MPI, MPICH (Hydra) and Intel MPI, and srun give the number of
// processes. Slurm also sets SLURM_NTASKS, and SLURM_PROCID to 0, for a batch script, which is one
// process; only srun makes a step.
constexpr std::array counts = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};

constexpr const char* other_mpi =
    "was it built with another MPI than this launcher's? With srun, try --mpi=pmix "
    "(srun --mpi=list shows what there is)";

void* open_plugin() {
  std::error_code failed;
  for (const fs::path& place : plugin_places(mpi_plugin_file)) {
    if (place.has_parent_path() && !fs::exists(place, failed)) continue;
    // RTLD_GLOBAL: Open MPI loads parts of itself, which need its symbols.
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
    break;
  }
  const std::string reason = last_loader_error();
  throw Error(
      join("this is one of several processes, but ", mpi_plugin_file, " cannot be loaded: ", reason,
           ". Install MPI ('tools/install-deps.sh mpi', or libopenmpi-dev and openmpi-bin), then "
           "configure and build again: that makes the library beside the program. Or start the "
           "processes "
           "with torchrun, which needs no MPI"));
}

class Mpi final : public Communicator {
 public:
  explicit Mpi(const FeedrateMpi& mpi) : mpi_(mpi) {}
  unsigned rank() const override { return mpi_.rank; }
  unsigned ranks() const override { return mpi_.ranks; }
  void begin_sum(std::span<float> values) override { mpi_.begin_sum(values.data(), values.size()); }
  void progress() override { mpi_.progress(); }
  void finish() override { mpi_.finish(); }
  void sum(std::span<double> values) override { mpi_.sum(values.data(), values.size()); }
  void broadcast(MutableBytes bytes) override { mpi_.broadcast(bytes.data(), bytes.size()); }
  void answer_others() override { mpi_.answer_others(); }
  std::uint64_t take() override {
    const std::uint64_t number = mpi_.add_to_counter(1);
    return number < stopped ? number : no_more;
  }
  void stop_taking() override { mpi_.add_to_counter(stopped); }
  void wait_for_all() override { mpi_.wait_for_all(); }
  void close() override { mpi_.close(); }

 private:
  // Added to the counter once by each rank that stops; 65,535 of them do not overflow it.
  static constexpr std::uint64_t stopped = std::uint64_t{1} << 48;

  const FeedrateMpi& mpi_;
};

}  // namespace

bool launched_with_others() {
  return std::ranges::any_of(counts, [](const char* name) {
    const char* text = std::getenv(name);
    return text != nullptr && std::atoi(text) > 1;
  });
}

std::unique_ptr<Communicator> join_mpi() {
  void* library = open_plugin();
  const auto entry = reinterpret_cast<FeedrateMpiEntry>(dlsym(library, mpi_entry_name));
  const FeedrateMpi* mpi = entry != nullptr ? entry() : nullptr;
  if (mpi == nullptr) {
    throw Error(join(mpi_plugin_file, " cannot start MPI; ", other_mpi));
  }
  // Otherwise each would train the whole network alone and write to the same files.
  if (mpi->ranks < 2) {
    throw Error(join("this is one of several processes, but ", mpi_plugin_file, " sees it alone; ",
                     other_mpi));
  }
  return std::make_unique<Mpi>(*mpi);
}

}  // namespace feedrate::trainer
