#include "formats/base/pages.h"

#include <unistd.h>

namespace feedrate::formats {

std::size_t page_bytes() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

Bytes from_page_begin(Bytes bytes, std::size_t page) {
  const std::size_t before = reinterpret_cast<std::uintptr_t>(bytes.data()) % page;
  return {bytes.data() - before, bytes.size() + before};
}

}  // namespace feedrate::formats
