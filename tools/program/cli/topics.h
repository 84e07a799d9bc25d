#pragma once
// The texts of `feedrate help TOPIC`: what concerns several commands.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace feedrate::tools {

struct Topic {
  std::string_view name;
  std::string_view summary;
  std::string (*text)(std::size_t columns);
};

std::span<const Topic> topics();

/// An environment variable that the program reads.
struct Variable {
  std::string_view name;
  std::string_view meaning;
};
std::span<const Variable> variables();

/// What `feedrate help topics` prints.
std::string topics_text(std::size_t columns);

}  // namespace feedrate::tools
