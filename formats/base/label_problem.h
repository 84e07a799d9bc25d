#pragma once
// What a label must be, which loader, converters and verify ask alike.

#include <cstdint>
#include <string>

namespace feedrate::formats {

/// What is wrong with a sample's label where the dataset states so many classes, or 0 for none; empty
/// if nothing is.
std::string label_problem(std::int32_t label, std::uint64_t classes);

}  // namespace feedrate::formats
