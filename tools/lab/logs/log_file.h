#pragma once
// One log of a run: the file that it keeps, locked while it does.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "formats/io/file.h"
#include "tools/lab/logs/log_kind.h"

namespace feedrate::tools {

/// What becomes of the lines that an earlier run left in a file.
enum class EarlierLines : std::uint8_t {
  erase,
  keep,  // and go on behind them; a torn last line is cut off
};

class LogFile {
 public:
  /// Throws Error where the file cannot be written, where another process keeps its log there, or
  /// where the lines to keep are not of this kind.
  LogFile(const LogKind& kind, const std::filesystem::path& path, EarlierLines earlier);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// Ignores what follows the end of a run.
  void write(const Event& event);

 private:
  void replace(const Event& event);

  const LogKind& kind_;
  const std::filesystem::path path_;
  const std::filesystem::path lock_path_;  // "": a file of each run's own needs none
  formats::Descriptor lock_;
  std::optional<formats::OutputFile> stream_;  // absent: the file is replaced
  std::chrono::steady_clock::time_point replaced_{};
  bool ended_ = false;
};

}  // namespace feedrate::tools
