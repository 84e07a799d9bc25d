#pragma once
// How a loader at work stands, in a file for Prometheus.

#include <chrono>
#include <filesystem>
#include <string>

#include "loader/loader.h"
#include "tools/logs/prometheus_text.h"

namespace feedrate::tools {

/// One thread at a time. Destroyed without end(), it says that loading has ended all the same.
class LoadMetrics {
 public:
  /// Writes nothing, ever, where `file` is "". Throws Error when it cannot be written.
  LoadMetrics(std::filesystem::path file, const std::filesystem::path& dataset);
  ~LoadMetrics();
  LoadMetrics(const LoadMetrics&) = delete;
  LoadMetrics& operator=(const LoadMetrics&) = delete;

  /// Once a second at most. Never throws: end() does.
  void update(const loader::LoaderStats& stats) noexcept;
  /// Throws Error when the file could not be written now.
  void end(const loader::LoaderStats& stats);

 private:
  void write(const loader::LoaderStats& stats);

  std::filesystem::path file_;
  PrometheusText text_;
  loader::LoaderStats last_;
  std::chrono::steady_clock::time_point written_{};
  bool running_ = true;
};

}  // namespace feedrate::tools
