#pragma once
// What a machine gives a loader beside its cores, measured.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace feedrate::tools {

/// In bytes a second; nothing where it could not be measured.
struct Host {
  std::uint64_t memory_bytes = 0;  // of main memory
  std::optional<double> memory;    // read plus written, all cores copying
  bool memory_saturated = false;   // whether more cores would copy no more
  std::optional<double> storage;   // from the dataset's files, past the page cache
};

/// Of reads of `block` bytes at random places of the files, as many at a time as a loader has under
/// way, for so many seconds. Past the page cache, which keeps what it has. Nothing where the file
/// system can only read through it, or where a file cannot be read.
std::optional<double> storage_rate(std::span<const std::filesystem::path> files,
                                   std::uint64_t block, double seconds);

/// Sets what is of memory, by the CPU trainer's copy; leaves it where this build has no such trainer.
void measure_memory(Host& host);

}  // namespace feedrate::tools
