#pragma once
// One download through libcurl (http, https or file), which continues a partial file.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace feedrate::converters {

struct Download {
  std::string url;
  std::filesystem::path file;   // the bytes that it holds are not downloaded again
  std::uint64_t max_bytes = 0;  // throws Error if the server sends more
  std::function<void(std::uint64_t done)> progress = {};
};

/// Downloads what is missing in `file`; true if the bytes already there were kept. Retries a few
/// times if the connection breaks. Throws Error naming the URL and the server's answer; the bytes
/// received stay in the file.
bool download(const Download& what);

}  // namespace feedrate::converters
