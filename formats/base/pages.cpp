#include "formats/base/pages.h"

#include <sys/mman.h>
#include <unistd.h>

namespace feedrate::formats {

std::size_t page_bytes() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

void prepare_to_write(Bytes bytes) {
#ifndef MADV_POPULATE_WRITE  // in the headers since glibc 2.35
  constexpr int MADV_POPULATE_WRITE = 23;
#endif
  const Bytes pages = from_page_begin(bytes);
  ::madvise(const_cast<std::byte*>(pages.data()), pages.size(), MADV_POPULATE_WRITE);
}

Bytes from_page_begin(Bytes bytes, std::size_t page) {
  const std::size_t before = reinterpret_cast<std::uintptr_t>(bytes.data()) % page;
  return {bytes.data() - before, bytes.size() + before};
}

}  // namespace feedrate::formats
