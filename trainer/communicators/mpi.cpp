#include "trainer/communicators/mpi.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "formats/base/error.h"
#include "trainer/communicators/mpi_plugin.h"
#include "trainer/communicators/plugin.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

namespace fs = std::filesystem;

// The variables in which Open MPI, MPICH (Hydra) and Intel MPI, and Slurm give the number of
// processes.
constexpr std::array counts = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"};
// Slurm also sets SLURM_NTASKS for a batch script, which is one process; only srun gives each
// process a number.
constexpr const char* slurm_number = "SLURM_PROCID";

void* open_plugin() {
  std::error_code failed;
  for (const fs::path& place : plugin_places(mpi_plugin_file)) {
    if (place.has_parent_path() && !fs::exists(place, failed)) continue;
    // RTLD_GLOBAL: Open MPI loads parts of itself, which need its symbols.
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
    break;
  }
  throw Error(join("this is one of several processes, but ", mpi_plugin_file,
                   " cannot be loaded (a build that finds MPI makes it): ", last_loader_error()));
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
  void close() override { mpi_.close(); }

 private:
  const FeedrateMpi& mpi_;
};

}  // namespace

bool launched_with_others() {
  for (const char* name : counts) {
    const char* text = std::getenv(name);
    if (text == nullptr || std::atoi(text) < 2) continue;
    if (std::string_view(name).starts_with("SLURM") && std::getenv(slurm_number) == nullptr)
      continue;
    return true;
  }
  return false;
}

std::unique_ptr<Communicator> join_mpi() {
  void* library = open_plugin();
  const auto entry = reinterpret_cast<FeedrateMpiEntry>(dlsym(library, mpi_entry_name));
  const FeedrateMpi* mpi = entry != nullptr ? entry() : nullptr;
  if (mpi == nullptr) {
    throw Error(join(mpi_plugin_file,
                     " cannot start MPI; was it built with another MPI than this launcher's?"));
  }
  // Otherwise each would train the whole network alone and write to the same files.
  if (mpi->ranks < 2) {
    throw Error(join("this is one of several processes, but ", mpi_plugin_file,
                     " sees it alone; was it built with another MPI than this launcher's?"));
  }
  return std::make_unique<Mpi>(*mpi);
}

}  // namespace feedrate::trainer
