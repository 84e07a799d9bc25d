#include "formats/base/xml.h"

#include <algorithm>
#include <pugixml.hpp>

#include "formats/base/error.h"

namespace feedrate::formats {

void parse_xml(std::string_view text, pugi::xml_document& document) {
  // pugixml would take a zero byte for the end and say nothing of what follows.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    throw Error(join("byte ", zero, ": expected well-formed XML, found a zero byte"));
  }
  const pugi::xml_parse_result result = document.load_buffer(
      text.data(), text.size(), pugi::parse_default | pugi::parse_trim_pcdata, pugi::encoding_utf8);
  if (result) return;
  const std::size_t at = std::min(static_cast<std::size_t>(result.offset), text.size());
  constexpr std::size_t shown = 40;
  throw Error(join("byte ", at, ": expected well-formed XML, found '", text.substr(at, shown),
                   "': ", result.description()));
}

std::string_view xml_text(const pugi::xml_node& element) {
  const pugi::xml_node first = element.first_child();
  return first.next_sibling() ? "" : first.value();
}

}  // namespace feedrate::formats
