#include "formats/containers/text_classes.h"

#include "formats/base/error.h"

namespace feedrate::formats {

std::int32_t TextClasses::add(std::string_view text) {
  if (text.empty()) throw Error(std::string(empty_text_label));
  if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
  if (numbers_.size() == max_text_classes) {
    throw Error(join("has more than ", max_text_classes, " different texts as labels, such as '",
                     text.substr(0, 40), "'; expected the names of classes"));
  }
  return numbers_.emplace(text, static_cast<std::int32_t>(numbers_.size())).first->second;
}

void TextClasses::add(const TextClasses& others) {
  for (const auto& [text, number] : others.numbers_) add(text);
}

void TextClasses::number() {
  std::int32_t next = 0;
  for (auto& [text, number] : numbers_) number = next++;
}

std::int32_t TextClasses::label(std::string_view text) const {
  if (text.empty()) throw Error(std::string(empty_text_label));
  const auto found = numbers_.find(text);
  if (found == numbers_.end()) {
    throw Error(join("the label '", text.substr(0, 40), "' was not there when it was opened"));
  }
  return found->second;
}

std::vector<std::int32_t> TextClasses::labels_of(const TextClasses& others) const {
  std::vector<std::int32_t> labels(others.numbers_.size());
  for (const auto& [text, number] : others.numbers_) {
    labels[static_cast<std::size_t>(number)] = label(text);
  }
  return labels;
}

std::string TextClasses::told() const {
  return join("labels are text: ", count(),
              count() == 1 ? " class" : " classes, numbered in the order of their names");
}

ClassNames TextClasses::names() const {
  ClassNames classes;
  for (const auto& [text, number] : numbers_) classes.names.push_back(text);
  return classes;
}

}  // namespace feedrate::formats
