#pragma once
// Files that operating systems leave behind in directories and archives. Stateless.

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

/// True for what describes an archive beside its content: "README", "LICENSE.txt", "readme.md".
constexpr bool is_about(std::string_view path) {
  const std::string_view base = path.substr(path.rfind('/') + 1);
  const auto is = [&](std::string_view word) {
    if (base.size() < word.size()) return false;
    for (std::size_t i = 0; i < word.size(); ++i) {
      if ((base[i] | 0x20) != word[i]) return false;
    }
    const std::string_view ending = base.substr(word.size());
    return ending.empty() || ending == ".txt" || ending == ".md";
  };
  return is("readme") || is("license");
}

}  // namespace feedrate::formats
