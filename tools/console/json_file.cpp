#include "tools/console/json_file.hpp"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "formats/base/error.h"
#include "tools/console/text.h"

namespace feedrate::tools {
using namespace formats;
using nlohmann::json;

json parse_json(const std::filesystem::path& file, std::string_view text) {
  std::vector<std::set<std::string>> open;  // keys of each object being parsed
  const auto watch = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key &&
        !open.back().insert(parsed.get<std::string>()).second) {
      fail(file, "key \"", parsed.get<std::string>(), "\" appears twice");
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::exception& problem) {
    std::string_view what = without_prefix(problem.what());
    constexpr std::string_view before = "parse error at ";  // "line 3, column 5: …"
    if (what.starts_with(before)) what.remove_prefix(before.size());
    fail(file, what);
  }
}

}  // namespace feedrate::tools
