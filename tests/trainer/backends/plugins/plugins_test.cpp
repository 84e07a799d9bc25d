// Finding and refusing plug-ins: what can be tested without a device.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "formats/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/places.h"
#include "trainer/backends/backend.h"
#include "trainer/backends/plugins/load_backend.h"
#include "trainer/backends/plugins/plugin.h"
#include "trainer/backends/plugins/plugin_backend.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

namespace fs = std::filesystem;
using testing::beside_this_program;
using testing::expect_error;

void expect_refused(const LoadedBackend& loaded, const std::vector<std::string>& parts) {
  EXPECT_EQ(loaded.backend, nullptr);
  for (const std::string& part : parts) {
    EXPECT_NE(loaded.problem.find(part), std::string::npos) << loaded.problem;
  }
}

TEST(UnitPlugins, a_missing_one_says_where_it_was_looked_for_and_what_brings_it) {
  expect_refused(
      load_backend("cpu", {"/nowhere/libfeedrate_cpu.so", "libfeedrate_no_such_backend.so"}),
      {"the cpu backend is not installed", "libfeedrate_cpu.so is neither beside the program",
       "the package feedrate-cpu brings it"});
}

TEST(UnitPlugins, a_library_of_another_kind_is_refused) {
  expect_refused(load_backend("cuda", {"libm.so.6"}), {"libm.so.6", "not a plug-in of feedrate"});
}

TEST(UnitPlugins, a_file_that_is_no_library_says_what_the_loader_says) {
  expect_refused(load_backend("cuda", {"/proc/self/status"}),
                 {"the cuda backend cannot be loaded", "/proc/self/status"});
}

TEST(UnitPlugins, one_of_another_version_is_refused_with_both_versions_and_the_mend) {
  const std::string file = beside_this_program("libfeedrate_old.so").string();
  expect_refused(load_backend("cpu", {file}),
                 {file, "belongs to feedrate 0.0.1, this is feedrate " FEEDRATE_VERSION,
                  "'pip install feedrate-cpu==" FEEDRATE_VERSION "'"});
}

TEST(UnitPlugins, the_version_of_an_abi_is_its_first_word) {
  EXPECT_TRUE(backend_abi().starts_with(FEEDRATE_VERSION " gcc ")) << backend_abi();
}

TEST(UnitPlugins, a_backend_that_is_not_installed_says_so_and_describes_nothing) {
  const PluginBackend absent("absent", "nobody made it");
  const std::string reason = absent.unavailable();
  EXPECT_NE(reason.find("the absent backend is not installed"), std::string::npos) << reason;
  expect_error([&] { static_cast<void>(absent.device_name(0)); }, {reason});
  expect_error([&] { static_cast<void>(absent.pixel_memory()); }, {reason});
  expect_error([&] { static_cast<void>(absent.measure_roof(1, "fp32")); }, {reason});
  EXPECT_TRUE(absent.libraries().empty());
  EXPECT_EQ(absent.pci_bus_id(), "");
}

TEST(UnitPlugins, the_cpu_works_and_tells_the_versions_of_its_libraries) {
  const Backend& cpu = backend("cpu");
  ASSERT_EQ(cpu.unavailable(), "");
  EXPECT_NE(cpu.device_name(2).find(", 2 threads"), std::string::npos) << cpu.device_name(2);
  const std::vector<LibraryVersion> libraries = cpu.libraries();
  ASSERT_EQ(libraries.size(), 2U);
  EXPECT_EQ(libraries[0].name, "oneDNN");
  EXPECT_GE(std::stod(libraries[0].version), 2.6) << libraries[0].version;
  EXPECT_EQ(libraries[1].name, "OpenBLAS");
  EXPECT_TRUE(libraries[1].version.starts_with("0.3.")) << libraries[1].version;
}

TEST(UnitPlugins, threads_that_a_library_starts_when_it_is_loaded_take_no_signal) {
  const std::string file = beside_this_program("libfeedrate_old.so").string();
  load_backend("cpu", {file});
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  const auto* taken = static_cast<const int*>(dlsym(library, "signals_of_its_thread"));
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(*taken, 0);
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  EXPECT_EQ(sigismember(&now, SIGTERM), 0) << "the mask of who loads stays as it was";
}

TEST(UnitPlugins, cuda_works_or_says_why_not) {
  const Backend& cuda = backend("cuda");
  const std::string reason = cuda.unavailable();
  if (reason.empty()) {
    EXPECT_FALSE(cuda.device_name(0).empty());
    EXPECT_FALSE(cuda.pci_bus_id().empty());
  } else {
    EXPECT_NE(reason.find(' '), std::string::npos) << "a sentence: " << reason;
    expect_error([&] { static_cast<void>(cuda.device_name(0)); }, {reason});
    expect_error([&] { static_cast<void>(cuda.pixel_memory()); }, {reason});
    EXPECT_EQ(cuda.pci_bus_id(), "");
  }
}

/// CUDA's as built, whether or not there is a device.
const Backend* built_cuda() {
  const fs::path file = beside_this_program("libfeedrate_cuda.so");
  return fs::exists(file) ? load_backend("cuda", {file}).backend : nullptr;
}

TEST(UnitPlugins, cuda_refuses_a_precision_and_pixels_that_it_does_not_know) {
  const Backend* cuda = built_cuda();
  if (cuda == nullptr) GTEST_SKIP() << "this build has no CUDA plug-in that loads here";
  Builder b("precision", {4, 4, 1}, 3);
  const Plan plan = make_plan(b.softmax_loss(b.dense(b.input(1), 3, {})), 2);
  SessionOptions options;
  options.optimizer = &optimizer("sgd");
  options.precision = "fp8";
  expect_error([&] { cuda->compile(plan, options); }, {"fp32, tf32, bf16 or fp16", "fp8"});
  options.precision = "fp32";
  options.pixels = loader::PixelType::f32;
  expect_error([&] { cuda->compile(plan, options); }, {"u8 pixels", "packed JPEGs", "not f32"});
}

TEST(UnitPlugins, cuda_tells_the_versions_of_its_libraries_without_a_device) {
  const Backend* cuda = built_cuda();
  if (cuda == nullptr) GTEST_SKIP() << "this build has no CUDA plug-in that loads here";
  const std::vector<LibraryVersion> libraries = cuda->libraries();
  ASSERT_EQ(libraries.size(), 2U);
  EXPECT_EQ(libraries[0].name, "CUDA");
  EXPECT_EQ(libraries[1].name, "cuDNN");
  for (const LibraryVersion& library : libraries) {
    EXPECT_GE(std::stoi(library.version), 9) << library.version;
    EXPECT_NE(library.version.find('.'), std::string::npos) << library.version;
  }
}

}  // namespace
}  // namespace feedrate::trainer
