// The events themselves, one JSON object a line; README.md lists their keys.

#include <nlohmann/json.hpp>

#include "tools/console/text.h"
#include "tools/lab/logs/log_kind.h"

namespace feedrate::tools {

static std::string json_line(const Event& event) {
  using nlohmann::ordered_json;
  const std::chrono::duration<double> since_1970 = event.time.time_since_epoch();
  ordered_json line = {{"event", event.type}, {"time", rounded(since_1970.count(), 3)}};
  for (const auto& [key, value] : event.last.at(event.type)) {
    std::visit([&](const auto& known) { line[std::string(key)] = known; }, value);
  }
  return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

const LogKind json_log{.name = "log",
                       .place = "FILE",
                       .summary = "Write every event as a JSON line",
                       .follows_load = true,
                       .replaces = false,
                       .bytes = json_line,
                       .line = R"({"event":)"};

}  // namespace feedrate::tools
