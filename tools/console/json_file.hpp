#pragma once
// JSON that people write.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace feedrate::tools {

/// The value of `text`, which is that of `file`. Throws Error naming the file and, for text that is no
/// JSON, line and column; also for a key that an object has twice, of which one would be lost.
nlohmann::json parse_json(const std::filesystem::path& file, std::string_view text);

}  // namespace feedrate::tools
