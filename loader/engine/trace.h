#pragma once
// What every thread did and when, for chrome://tracing and ui.perfetto.dev. Memory is bounded and
// allocated at the start: a full lane counts the events it leaves out, and the file has the count.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace feedrate::loader::detail {

enum class Activity : std::uint8_t { fill, wait, use };

/// The events of one thread. One writer; readers see complete events only.
class TraceLane {
 public:
  static constexpr std::uint32_t max_events = 1U << 16;

  explicit TraceLane(std::string name);
  void add(Activity activity, std::uint64_t start_ns, std::uint64_t end_ns, std::uint64_t batch);

 private:
  friend void write_chrome_trace(const std::filesystem::path& file,
                                 std::span<const std::unique_ptr<TraceLane>> lanes,
                                 std::uint64_t origin_ns);
  struct Event {
    std::uint64_t start_ns;
    std::uint64_t duration_ns;
    std::uint64_t batch;
    Activity activity;
  };
  std::string name_;
  std::unique_ptr<Event[]> events_;
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint64_t> left_out_{0};
};

/// Writes all lanes as one JSON object, with times relative to `origin_ns`. Throws Error when the
/// file cannot be written.
void write_chrome_trace(const std::filesystem::path& file,
                        std::span<const std::unique_ptr<TraceLane>> lanes, std::uint64_t origin_ns);

}  // namespace feedrate::loader::detail
