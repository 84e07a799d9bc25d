#pragma once
// The classes of labels that are text: each text is one, and they are numbered in the order of their
// bytes, as the directories of a folder are. So the same texts get the same numbers, in whatever order
// and by however many threads they are found.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/sidecar.h"

namespace feedrate::formats {

/// As many as `verify` and conversions count.
inline constexpr std::size_t max_text_classes = std::size_t{1} << 20;

/// What is wrong with a label of no bytes.
inline constexpr std::string_view empty_text_label = "the label is empty text";

/// One thread adds; once they are numbered, any thread may ask.
class TextClasses {
 public:
  /// The text's number, in the order in which they come. Throws Error for one that is empty, and
  /// beyond max_text_classes.
  std::int32_t add(std::string_view text);
  void add(const TextClasses& others);
  /// Numbers the classes, of which all have been added.
  void number();

  /// Throws Error for a text that is empty or was not added.
  std::int32_t label(std::string_view text) const;
  /// The label here of each class of `others`, by the number that add() gave it there.
  std::vector<std::int32_t> labels_of(const TextClasses& others) const;
  ClassNames names() const;
  /// A note for the dataset: "labels are text: 3 classes, numbered in the order of their names".
  std::string told() const;
  std::uint32_t count() const { return static_cast<std::uint32_t>(numbers_.size()); }

 private:
  std::map<std::string, std::int32_t, std::less<>> numbers_;
};

}  // namespace feedrate::formats
