#pragma once
// A directory with the probe and a socket, and a thread that keeps what the probe says. Removed with what is
// in it.

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>

#include "formats/io/file.h"
#include "tools/lab/diagnose/seen.h"

namespace feedrate::tools {

/// One loader's number of workers is another, and the process ends after so many of its steps.
struct Restart {
  std::string where{};  // the loader was made: file and line
  std::uint64_t workers = 0, steps = 0;
};

struct ProbeSettings {
  bool sweep = true;
  double seconds = 3;  // at each number of workers
  unsigned cores = 1;
  bool swap = false;                     // Feedrate's loaders in the place of the script's
  std::optional<unsigned> threads{};     // of them; nothing: the script's number of workers
  std::filesystem::path converted_to{};  // where they convert the data first; "": they do not
  std::optional<Restart> restart{};
};

class Listener {
 public:
  /// Throws Error where there is no directory for temporary files.
  explicit Listener(const ProbeSettings& settings);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// What belongs in front of PYTHONPATH.
  const std::filesystem::path& directory() const { return directory_; }
  /// Takes what has been said until now, and removes the directory: a signal's end runs no destructor.
  Seen finish();

 private:
  void listen();
  void close();

  std::filesystem::path directory_;
  formats::Descriptor socket_;
  std::atomic<bool> ending_ = false;
  Seen seen_;
  std::thread thread_;
};

}  // namespace feedrate::tools
