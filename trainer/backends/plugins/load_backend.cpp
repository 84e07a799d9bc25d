#include "trainer/backends/plugins/load_backend.h"

#include <dlfcn.h>

#include <csignal>
#include <cstdlib>
#include <system_error>

#include "formats/base/error.h"
#include "formats/base/plugin_abi.h"
#include "trainer/backends/plugins/plugin.h"
#include "trainer/communicators/plugin_path.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

namespace fs = std::filesystem;

// OpenBLAS starts its threads when it is loaded. They would never work, and each maps 128 MiB, or asks
// for them for ever where there is no room.
class WithoutBlasThreads {
 public:
  WithoutBlasThreads() : given_(getenv(variable) != nullptr) {
    if (!given_) setenv(variable, "1", 0);
  }
  ~WithoutBlasThreads() {
    if (!given_) unsetenv(variable);  // programs that this one starts may want them
  }
  WithoutBlasThreads(const WithoutBlasThreads&) = delete;
  WithoutBlasThreads& operator=(const WithoutBlasThreads&) = delete;

 private:
  static constexpr const char* variable = "OPENBLAS_NUM_THREADS";
  const bool given_;
};

// RTLD_LOCAL: the plug-in contains copies of our own code, which must not replace the program's.
void* open_library(const fs::path& place) {
  const WithoutBlasThreads without_blas_threads;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return library;
}

LoadedBackend enter(void* library, std::string_view name, const fs::path& place) {
  const auto abi = reinterpret_cast<AbiFunction>(dlsym(library, abi_symbol));
  const auto backend = reinterpret_cast<BackendFunction>(dlsym(library, backend_symbol));
  if (abi == nullptr || backend == nullptr) {
    return {nullptr, join(place, " is not a plug-in of feedrate: ", last_loader_error())};
  }
  const std::string problem = other_build(join(place), name, backend_abi(), abi());
  return {problem.empty() ? backend() : nullptr, problem};
}

}  // namespace

LoadedBackend load_backend(std::string_view name, const std::vector<fs::path>& places) {
  for (const fs::path& place : places) {
    std::error_code ignored;
    if (place.has_parent_path() && !fs::exists(place, ignored)) continue;
    if (void* library = open_library(place)) return enter(library, name, place);
    const std::string error = last_loader_error();
    // A file that exists but does not load lacks a library: report the loader's error.
    if (place.has_parent_path() || !error.starts_with(place.string())) {
      return {nullptr, join("the ", name, " backend cannot be loaded: ", error)};
    }
  }
  return {nullptr, join("the ", name, " backend is not installed: libfeedrate_", name,
                        ".so is neither beside the program, nor in ../lib, nor on the library "
                        "path; the package feedrate-",
                        name, " brings it")};
}

}  // namespace feedrate::trainer
