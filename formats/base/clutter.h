#pragma once
// What operating systems leave behind in directories and archives. Stateless.

#include <string_view>

namespace feedrate::formats {

/// True for "._anything", ".DS_Store", "Thumbs.db" and "desktop.ini", and for all that lies in "__MACOSX".
constexpr bool is_clutter(std::string_view path) {
  const std::string_view base = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  constexpr std::string_view mac = "__MACOSX/";
  return base.starts_with("._") || base == ".DS_Store" || base == "Thumbs.db" ||
         base == "desktop.ini" || path.starts_with(mac) ||
         path.find("/__MACOSX/") != std::string_view::npos;
}

}  // namespace feedrate::formats
