#pragma once
// What a label must be, which loader, converters and verify ask alike.

#include <cstdint>
#include <optional>
#include <string>

namespace feedrate::formats {

/// What is wrong with a sample's label where the dataset states so many classes, or 0 for none; empty
/// if nothing is. `beside_list`: the sample has a list of labels, of which none need be a class where the
/// dataset states none.
std::string label_problem(std::int32_t label, std::uint64_t classes, bool beside_list = false);

/// The label that is written as a fraction, 3.0; nothing for one that is no whole number of 32 bits.
std::optional<std::int32_t> whole_number(double value);

}  // namespace feedrate::formats
