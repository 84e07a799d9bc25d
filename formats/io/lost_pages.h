#pragma once
// Mapped files that shrink. Reading a page that the file no longer has, or that the disk cannot
// read, raises SIGBUS, whose default is the end of the process. Here such a page reads as zeros and
// is remembered: whoever has worked on mapped bytes asks afterwards, and throws the result away.

#include <filesystem>
#include <string>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// A map of a whole file, for whose pages reading zeros stands for dying. Any thread. The first one
/// installs the process's handler of SIGBUS; an address of no guarded map goes to the handler
/// before it.
class MapGuard {
 public:
  MapGuard() = default;
  /// `map` stays mapped until its guard has gone.
  MapGuard(Bytes map, const std::filesystem::path& file);
  ~MapGuard();
  MapGuard(MapGuard&& other) noexcept;
  MapGuard& operator=(MapGuard&& other) noexcept;

 private:
  void* entry_ = nullptr;
};

/// A sentence naming the file, if this thread has read a page that was missing since it last asked;
/// empty otherwise, which costs nothing. What the thread made of such bytes is worthless.
std::string lost_pages_of_thread();

/// The same of any thread since the process began; it may be asked again.
std::string lost_pages_of_process();

}  // namespace feedrate::formats
