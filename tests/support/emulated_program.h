#pragma once
// The program beside the emulated device, as if that were the CUDA plug-in.

#include <filesystem>
#include <optional>

#include "tests/support/places.h"
#include "tests/support/run_program.h"

namespace feedrate::testing {

/// Makes a copy of the program in `directory`, which finds the emulated device. Returns its path;
/// nothing where the build has no CUDA plug-in.
inline std::optional<std::filesystem::path> program_with_emulated_device(
    const std::filesystem::path& directory) {
  const std::filesystem::path plugin = beside_this_program("libfeedrate_cuda_emulated.so");
  if (!std::filesystem::exists(plugin)) return std::nullopt;
  std::filesystem::path program = directory / "feedrate";
  std::filesystem::copy_file(program_under_test(), program);
  std::filesystem::create_symlink(plugin, directory / "libfeedrate_cuda.so");
  return program;
}

}  // namespace feedrate::testing
