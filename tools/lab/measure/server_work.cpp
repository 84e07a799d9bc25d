#include "tools/lab/measure/server_work.h"

#include <fmt/format.h>

#include <system_error>

#include "tools/console/text.h"

namespace feedrate::tools {

namespace {

std::optional<std::string> cache_problem(const formats::RemoteCounts& counts) {
  return only_if(counts.cache_problem != 0, std::generic_category().message(counts.cache_problem));
}

}  // namespace

ServerWork server_work(const formats::RemoteCounts& counts) {
  return {.requests = counts.requests,
          .repeated = counts.repeated,
          .bytes = counts.bytes,
          .cached_bytes = counts.cached_bytes,
          .connections = counts.connections,
          .cache_problem = cache_problem(counts),
          .seconds = counts.seconds_per_request(),
          .median_seconds = counts.latencies.quantile(0.5),
          .p99_seconds = counts.latencies.quantile(0.99),
          .cpu_seconds = counts.cpu_seconds_per_request()};
}

std::string ServerWork::text() const {
  if (requests == 0) return fmt::format("the cache gave {}", bytes_text(cached_bytes));
  std::string text = fmt::format("the server sent {} in {} over at most {}", bytes_text(bytes),
                                 counted(requests, "request"), counted(connections, "connection"));
  if (median_seconds) {
    text += fmt::format("; the middle one took {}, 99 in 100 took {} at most",
                        duration_text(*median_seconds), duration_text(p99_seconds.value_or(0)));
  }
  if (cpu_seconds)
    text += fmt::format("; fetching used {} of CPU time each", duration_text(*cpu_seconds));
  if (repeated != 0) {
    text += fmt::format("; {} were sent again after a failure", formats::grouped(repeated));
  }
  if (cached_bytes != 0) text += fmt::format("; {} came from the cache", bytes_text(cached_bytes));
  if (cache_problem) text += fmt::format("; the cache stopped keeping bytes: {}", *cache_problem);
  return text;
}

}  // namespace feedrate::tools
