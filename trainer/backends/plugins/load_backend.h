#pragma once
// The program's side of a plug-in: finds and loads it. Nothing here needs its libraries.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/backends/backend.h"

namespace feedrate::trainer {

/// A plug-in's backend, or the sentence that says why there is none. What was loaded stays.
struct LoadedBackend {
  const Backend* backend = nullptr;
  std::string problem;
};

/// Loads the first plug-in that exists; a bare file name leaves the search to the dynamic loader.
/// Threads that its libraries start block all signals: some compute on a stack of their own, where
/// a handler would corrupt the heap (cpu/threads/held_signals.h). Never throws; any thread.
LoadedBackend load_backend(std::string_view name, const std::vector<std::filesystem::path>& places);

}  // namespace feedrate::trainer
