#pragma once
// Names for people in place of paths: files of this machine that stand in for others are told as what
// they stand for.

#include <filesystem>
#include <string>

namespace feedrate::formats {

/// While this lives, messages name `directory` and what is below it by `text` in its place, which ends
/// with a slash.
class ShownAs {
 public:
  ShownAs(std::filesystem::path directory, std::string text);
  ~ShownAs();
  ShownAs(const ShownAs&) = delete;
  ShownAs& operator=(const ShownAs&) = delete;

 private:
  std::filesystem::path directory_;
};

/// The path as messages name it, without control characters. Any thread.
std::string shown_path(const std::filesystem::path& path);

}  // namespace feedrate::formats
