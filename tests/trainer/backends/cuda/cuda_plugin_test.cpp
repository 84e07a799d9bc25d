// Finding and refusing the CUDA plug-in: what can be tested without a device.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/expect_error.h"
#include "tests/support/places.h"
#include "trainer/backends/backend.h"
#include "trainer/backends/cuda_plugin/cuda.h"

namespace feedrate::trainer {
namespace {

namespace fs = std::filesystem;
using testing::beside_this_program;
using testing::expect_error;

TEST(UnitCudaPlugin, a_missing_plugin_says_where_it_was_looked_for) {
  const LoadedCudaPlugin loaded =
      load_cuda_plugin({"/nowhere/libfeedrate_cuda.so", "libfeedrate_no_such_cuda.so"});
  EXPECT_EQ(loaded.plugin, nullptr);
  EXPECT_NE(loaded.problem.find("not installed"), std::string::npos) << loaded.problem;
}

TEST(UnitCudaPlugin, a_library_of_another_kind_is_refused) {
  const LoadedCudaPlugin loaded = load_cuda_plugin({"libm.so.6"});
  EXPECT_EQ(loaded.plugin, nullptr);
  EXPECT_NE(loaded.problem.find("not a CUDA plug-in"), std::string::npos) << loaded.problem;
}

TEST(UnitCudaPlugin, a_file_that_is_no_library_says_what_the_loader_says) {
  const LoadedCudaPlugin loaded = load_cuda_plugin({"/proc/self/status"});
  EXPECT_EQ(loaded.plugin, nullptr);
  EXPECT_NE(loaded.problem.find("/proc/self/status"), std::string::npos) << loaded.problem;
}

TEST(UnitCudaPlugin, the_row_works_or_says_why_not) {
  const Backend& cuda = backend("cuda");
  const std::string reason = cuda.unavailable();
  if (reason.empty()) {
    EXPECT_FALSE(cuda.device_name(0).empty());
    EXPECT_FALSE(cuda_pci_bus_id().empty());
  } else {
    EXPECT_NE(reason.find(' '), std::string::npos) << "a sentence: " << reason;
    expect_error([&] { static_cast<void>(cuda.device_name(0)); }, {reason});
    expect_error([&] { static_cast<void>(cuda.pixel_memory()); }, {reason});
    EXPECT_EQ(cuda_pci_bus_id(), "");
  }
}

/// The plug-in as built, whether or not there is a device.
const CudaPlugin* built_plugin() {
  const fs::path file = beside_this_program("libfeedrate_cuda.so");
  return fs::exists(file) ? load_cuda_plugin({file}).plugin : nullptr;
}

TEST(UnitCudaPlugin, a_precision_that_it_does_not_know_is_refused) {
  const CudaPlugin* plugin = built_plugin();
  if (plugin == nullptr) GTEST_SKIP() << "this build has no CUDA plug-in that loads here";
  Builder b("precision", {4, 4, 1}, 3);
  const Plan plan = make_plan(b.softmax_loss(b.dense(b.input(1), 3, {})), 2);
  SessionOptions fp8;
  fp8.optimizer = &optimizer("sgd");
  fp8.precision = "fp8";
  expect_error([&] { plugin->backend->compile(plan, fp8); }, {"fp32, tf32, bf16 or fp16", "fp8"});
}

TEST(UnitCudaPlugin, tells_the_versions_of_its_libraries_without_a_device) {
  const CudaPlugin* plugin = built_plugin();
  if (plugin == nullptr) GTEST_SKIP() << "this build has no CUDA plug-in that loads here";
  for (const std::string& version : {plugin->runtime_version(), plugin->cudnn_version()}) {
    EXPECT_GE(std::stoi(version), 9) << version;
    EXPECT_NE(version.find('.'), std::string::npos) << version;
  }
}

TEST(UnitCudaPlugin, a_plugin_of_another_build_is_refused) {
  const fs::path file = beside_this_program("libfeedrate_cuda.so");
  void* library = fs::exists(file) ? dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) GTEST_SKIP() << "this build has no CUDA plug-in that loads here";
  const auto entry = reinterpret_cast<CudaEntry>(dlsym(library, cuda_entry_name));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry("0.0.1 of yesterday"), nullptr);
  EXPECT_NE(entry(cuda_abi().c_str()), nullptr);
}

}  // namespace
}  // namespace feedrate::trainer
