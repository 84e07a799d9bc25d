#include "formats/containers/mean_xml.h"

#include <fmt/format.h>

#include <cassert>

#include "formats/file.h"

namespace feedrate {
namespace {

constexpr std::size_t values_per_line = 8;

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

}  // namespace

void write_mean_xml(const std::filesystem::path& file, const MeanImage& mean) {
  const Shape& shape = mean.shape;
  assert(mean.values.size() == shape.bytes());
  std::string text =
      fmt::format(fmt::runtime(head), shape.channels, shape.height, shape.width, shape.bytes());
  for (std::size_t i = 0; i < mean.values.size(); ++i) {
    const std::size_t channel = i % shape.channels;
    const std::size_t from_blue = i - channel + (shape.channels - 1 - channel);
    if (i != 0) text += i % values_per_line == 0 ? "\n      " : " ";
    fmt::format_to(std::back_inserter(text), "{:e}", static_cast<float>(mean.values[from_blue]));
  }
  OutputFile output(file);
  output.write(text);
  output.write(tail);
  output.close();
}

}  // namespace feedrate
