#pragma once
// What the server of a dataset was asked for while something was measured.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/remote/counts.h"
#include "tools/console/fields.h"

namespace feedrate::tools {

struct ServerWork {
  std::uint64_t requests = 0;
  std::uint64_t repeated = 0;
  std::uint64_t bytes = 0;
  std::uint64_t cached_bytes = 0;
  unsigned connections = 0;
  std::optional<std::string> cache_problem{};  // why the cache stopped keeping bytes
  // Of a request. Absent where nothing was fetched.
  std::optional<double> seconds{};  // on average
  std::optional<double> median_seconds{};
  std::optional<double> p99_seconds{};
  std::optional<double> cpu_seconds{};

  /// "the server sent 5.1 MiB in 60 requests over at most 8 connections, …"
  std::string text() const;
};

ServerWork server_work(const formats::RemoteCounts& counts);

template <class WorkType, class Field>
requires std::same_as<std::remove_const_t<WorkType>, ServerWork>
void for_each_field(WorkType& work, const Field& field) {
  constexpr std::string_view nothing = "nothing was fetched";
  constexpr int digits = 6;
  field("requests", work.requests, {"sent to the server, with those sent again"});
  field("repeated", work.repeated, {"of these, sent again after a failure that passes"});
  field("bytes", work.bytes, {"of the ranges that arrived"});
  field("cached_bytes", work.cached_bytes, {"read from `--cache-dir` instead"});
  field("connections", work.connections, {"the most that were used at once"});
  field("cache_problem", work.cache_problem,
        {"why `--cache-dir` stopped keeping bytes",
         Absent{"there is no cache, or nothing stopped it"}});
  field("seconds_per_request", work.seconds,
        {"from sending to the last byte, on average", Unit{"s"}, Null{nothing}, Digits{digits}});
  field("median_seconds", work.median_seconds,
        {"the same of the middle request, within 6 %", Unit{"s"}, Null{nothing}, Digits{digits}});
  field("p99_seconds", work.p99_seconds,
        {"that 99 in 100 requests took at most, within 6 %", Unit{"s"}, Null{nothing},
         Digits{digits}});
  field("cpu_seconds_per_request", work.cpu_seconds,
        {"processor time of the thread that fetches", Unit{"s"}, Null{nothing}, Digits{9}});
}

}  // namespace feedrate::tools
