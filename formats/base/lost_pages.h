#pragma once
// Mapped files that shrink. Reading a page that the file no longer has, or that the disk cannot
// read, raises SIGBUS, which ends the process by default. Here such a page reads as zeros and is
// recorded: callers ask for it after using mapped bytes, and discard the result.

#include <cstdint>
#include <filesystem>
#include <string>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// Guards a map of a whole file: missing pages of the map read as zeros instead of raising SIGBUS.
/// Any thread. The first guard installs the process's SIGBUS handler, which passes addresses
/// outside guarded maps on to the handler before it.
class MapGuard {
 public:
  MapGuard() = default;
  /// `map` must stay mapped until its guard is destroyed.
  MapGuard(Bytes map, const std::filesystem::path& file);
  ~MapGuard();
  MapGuard(MapGuard&& other) noexcept;
  MapGuard& operator=(MapGuard&& other) noexcept;

  /// A sentence naming the file, if any thread has read a missing page of this map, now or earlier;
  /// empty otherwise.
  std::string lost_pages() const;

 private:
  void* entry_ = nullptr;
};

/// A sentence naming the file, if this thread has read a missing page since it last asked; empty
/// otherwise, which costs nothing. Anything computed from such bytes is worthless.
std::string lost_pages_of_thread();

/// How many missing pages all threads have read since the process started.
std::uint64_t lost_pages_so_far();

/// A sentence naming the last file, if any thread has read a missing page after `earlier` ones:
/// these may have been of other files. Can be asked repeatedly.
std::string lost_pages_of_process(std::uint64_t earlier = 0);

}  // namespace feedrate::formats
