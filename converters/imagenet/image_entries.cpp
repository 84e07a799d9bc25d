#include "converters/imagenet/image_entries.h"

#include <algorithm>
#include <cctype>

#include "converters/imagenet/imagenet_files.h"
#include "formats/base/clutter.h"
#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr std::uint64_t max_image_bytes = std::uint64_t{256} << 20;

bool is_image(std::string_view name) {
  const std::size_t dot = name.find_last_of('.');
  if (dot == std::string_view::npos || dot == 0) return false;
  std::string ending(name.substr(dot + 1));
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending == "jpeg" || ending == "jpg" || ending == "png";
}

bool has_control_characters(std::string_view name) {
  return std::ranges::any_of(name, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

}  // namespace

void expect_no_links(const Archive& archive) {
  if (archive.irregular().empty()) return;
  fail(archive.irregular(), "is a link or a device, which holds no data");
}

bool ImageEntries::next() {
  for (bool more = true; more;) {
    more = archive_.next();
    expect_no_links(archive_);
    if (!more) break;
    const std::string_view name = base_name(archive_.name());
    if (is_clutter(name) || is_about(name)) {
      ++clutter_;
      continue;
    }
    if (has_control_characters(name)) {
      fail(archive_.place(), "the name of this image contains control characters");
    }
    if (!is_image(name)) {
      fail(archive_.place(), "expected the name of an image (.JPEG, .jpg, .png)");
    }
    name_ = name;
    return true;
  }
  return false;
}

Bytes ImageEntries::bytes(Buffer& storage) {
  std::optional<Bytes> view = archive_.view();
  if (!view) {
    archive_.read_all(storage, max_image_bytes);
    view = storage;
  }
  return *view;
}

}  // namespace feedrate::converters
