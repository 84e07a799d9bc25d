#include "loader/engine/trace.h"

#include <fmt/format.h>

#include <array>

#include "formats/io/file.h"

namespace feedrate::loader::detail {
using namespace formats;

namespace {

constexpr std::array<std::string_view, 3> activity_names{"fill", "wait", "use batch"};

double microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

}  // namespace

TraceLane::TraceLane(std::string name)
    : name_(std::move(name)), events_(std::make_unique<Event[]>(max_events)) {}

void TraceLane::add(Activity activity, std::uint64_t start_ns, std::uint64_t end_ns,
                    std::uint64_t batch) {
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  if (count == max_events) {
    left_out_.store(left_out_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return;
  }
  events_[count] = {start_ns, end_ns - start_ns, batch, activity};
  count_.store(count + 1, std::memory_order_release);
}

void write_chrome_trace(const std::filesystem::path& file,
                        std::span<const std::unique_ptr<TraceLane>> lanes,
                        std::uint64_t origin_ns) {
  replace_file(file, [&](OutputFile& out) {
    out.write("{\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [\n");
    std::uint64_t left_out = 0;
    for (std::size_t thread = 0; thread < lanes.size(); ++thread) {
      const TraceLane& lane = *lanes[thread];
      out.write(fmt::format(R"({}{{"ph": "M", "name": "thread_name", "pid": 1, "tid": {}, )"
                            R"("args": {{"name": "{}"}}}})",
                            thread == 0 ? "" : ",\n", thread, lane.name_));
      const std::uint32_t count = lane.count_.load(std::memory_order_acquire);
      for (std::uint32_t i = 0; i < count; ++i) {
        const TraceLane::Event& event = lane.events_[i];
        out.write(
            fmt::format(",\n"
                        R"({{"ph": "X", "name": "{}", "pid": 1, "tid": {}, "ts": {:.3f}, )"
                        R"("dur": {:.3f}, "args": {{"batch": {}}}}})",
                        activity_names[static_cast<std::size_t>(event.activity)], thread,
                        microseconds(event.start_ns - origin_ns), microseconds(event.duration_ns),
                        event.batch));
      }
      left_out += lane.left_out_.load(std::memory_order_relaxed);
    }
    out.write(
        fmt::format("\n],\n\"otherData\": {{\"most_events_per_thread\": {}, "
                    "\"events_left_out\": {}}}}}\n",
                    TraceLane::max_events, left_out));
  });
}

}  // namespace feedrate::loader::detail
