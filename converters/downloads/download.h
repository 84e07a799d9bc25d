#pragma once
// One download by libcurl: http, https or file, into a file that it continues.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace feedrate::converters {

struct Download {
  std::string url;
  std::filesystem::path file;  // bytes that are there already are not asked for again
  std::uint64_t most = 0;      // more bytes than this are refused: the disk is not the server's
  std::function<void(std::uint64_t done)> progress = {};
};

/// Fetches what is missing in `file`; true when the bytes that were there before were kept. When
/// the connection breaks it goes on a few times. Throws Error naming the URL and what came back;
/// what has arrived stays in the file.
bool download(const Download& what);

}  // namespace feedrate::converters
