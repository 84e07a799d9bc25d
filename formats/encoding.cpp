#include "formats/encoding.h"

#include <algorithm>

#include "formats/base/text.h"

namespace feedrate::formats {
namespace {

constexpr std::string_view keep_name = "keep";

}  // namespace

std::string Encoding::name() const {
  if (keeps()) return std::string(keep_name);
  return quality == 0 ? std::string(codec->name()) : join(codec->name(), ":", quality);
}

Encoding parse_encoding(std::string_view text) {
  if (text == keep_name) return {};
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  std::vector<std::string_view> names = encoder_names();
  names.insert(names.begin(), keep_name);
  if (std::find(names.begin(), names.end(), name) == names.end() || name == keep_name) {
    throw Error(unknown_kind("encoding", text, names));
  }
  Encoding encoding{&codec(name), 0};
  if (colon == std::string_view::npos) return encoding;
  const std::string_view number = text.substr(colon + 1);
  if (!encoding.codec->has_quality()) {
    throw Error(join(name, " is lossless and takes no quality; found '", text, "'"));
  }
  const auto quality = parse_number<int>(number);
  if (!quality || *quality < 1 || *quality > 100) {
    throw Error(join("the quality '", number, "' of ", name, " is not from 1 to 100"));
  }
  encoding.quality = *quality;
  return encoding;
}

}  // namespace feedrate::formats
