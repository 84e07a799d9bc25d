// The mean image as CNTK reads it: an OpenCV FileStorage with one row of floats. Lines are wrapped:
// OpenCV before 4.3 refuses lines of more than a megabyte.

#include <fmt/format.h>

#include <charconv>
#include <pugixml.hpp>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/base/xml.h"
#include "formats/io/file.h"
#include "formats/means/mean.h"
#include "formats/means/mean_format.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t values_per_line = 8;
constexpr std::string_view blanks = " \t\r\n";

constexpr const char* head = R"(<?xml version="1.0" ?>
<opencv_storage>
  <Channel>{}</Channel>
  <Row>{}</Row>
  <Col>{}</Col>
  <MeanImg type_id="opencv-matrix">
    <rows>1</rows>
    <cols>{}</cols>
    <dt>f</dt>
    <data>)";

constexpr const char* tail = R"(</data>
  </MeanImg>
</opencv_storage>
)";

pugi::xml_node element(const pugi::xml_node& parent, const char* name) {
  if (const pugi::xml_node child = parent.child(name)) return child;
  throw Error(join("has no element ", name, ", which OpenCV would have written"));
}

std::uint64_t number(const pugi::xml_node& parent, const char* name) {
  const std::string_view text = xml_text(element(parent, name));
  const auto value = parse_number<std::uint64_t>(text);
  if (!value) throw Error(join("the element ", name, " is '", text.substr(0, 20), "', no number"));
  return *value;
}

std::vector<double> numbers(std::string_view text, std::size_t count) {
  std::vector<double> values;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    if (text.empty()) break;
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) {
      throw Error(join("value ", values.size(), " is '", word.substr(0, 20), "', no number"));
    }
    if (values.size() == count) throw Error(join("holds more than the ", count, " values stated"));
    values.push_back(value);
    text.remove_prefix(word.size());
  }
  if (values.size() != count) {
    throw Error(join("holds ", values.size(), " values, states ", count));
  }
  return values;
}

class CntkMean final : public MeanFormat {
 public:
  CntkMean()
      : MeanFormat("cntk", "CNTK's XML of OpenCV: interleaved B, G, R", ".xml",
                   MeanLayout::interleaved_bgr) {}

  bool knows(Bytes content) const override {
    return as_text(content).find("<MeanImg") != std::string_view::npos;
  }

  StoredMean read(Bytes content) const override {
    pugi::xml_document document;
    parse_xml(as_text(content), document);
    const pugi::xml_node storage = document.document_element();
    const pugi::xml_node matrix = element(storage, "MeanImg");
    const Shape shape =
        mean_shape(number(storage, "Row"), number(storage, "Col"), number(storage, "Channel"));
    const auto size = checked_multiply(number(matrix, "rows"), number(matrix, "cols"));
    if (size != shape.bytes()) {
      throw Error(join("states ", shape.height, "x", shape.width, "x", shape.channels,
                       ", but the matrix has ", number(matrix, "rows"), " rows of ",
                       number(matrix, "cols")));
    }
    return {shape, numbers(xml_text(element(matrix, "data")), shape.bytes())};
  }

  void write(const StoredMean& mean, OutputFile& file) const override {
    const Shape& shape = mean.shape;
    std::string text =
        fmt::format(fmt::runtime(head), shape.channels, shape.height, shape.width, shape.bytes());
    for (std::size_t i = 0; i < mean.values.size(); ++i) {
      if (i != 0) text += i % values_per_line == 0 ? "\n      " : " ";
      fmt::format_to(std::back_inserter(text), "{:e}", static_cast<float>(mean.values[i]));
    }
    file.write(text);
    file.write(tail);
  }
};

const CntkMean cntk_row;

}  // namespace

const MeanFormat& cntk_mean_format = cntk_row;

}  // namespace feedrate::formats
