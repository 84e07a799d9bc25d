#pragma once
// XML as pugixml reads it, with its codes turned into Errors. Only the text itself is read:
// entities that a document declares are not expanded, and files that it names are not opened.
// Stateless.

#include <string_view>

namespace pugi {
class xml_document;
class xml_node;
}  // namespace pugi

namespace feedrate::formats {

/// Fills `document` with the elements of `text`, which is taken for UTF-8 whatever it declares.
/// Blanks around an element's text are left out, and so are comments and declarations. Throws Error
/// (without a place) naming the byte where `text` is not well formed.
void parse_xml(std::string_view text, pugi::xml_document& document);

/// The text of an element that holds one text and nothing else, otherwise "". Valid as long as the
/// document.
std::string_view xml_text(const pugi::xml_node& element);

}  // namespace feedrate::formats
