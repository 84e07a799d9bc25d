#pragma once
// Checks what a killed writer of an LMDB left behind, before liblmdb trusts it.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace feedrate::formats {

struct LmdbRemains {
  int digits = 0;                    // of the numbers in the keys; 0 if nothing is kept
  bool red_first = false;            // the last sample kept has raw planes R, G, B
  std::vector<std::string> surplus;  // keys after those to keep, in order
};

/// Checks that `data` holds the entries of `samples` samples numbered from `first`, and perhaps
/// some that follow them. Removes the file if `samples` is 0. Throws Error if the file is damaged
/// or was not written by our writer.
LmdbRemains look_at_lmdb_remains(const std::filesystem::path& data, std::uint64_t first,
                                 std::uint64_t samples);

}  // namespace feedrate::formats
