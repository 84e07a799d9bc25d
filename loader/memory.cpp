#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "formats/base/error.h"
#include "loader/batch.h"

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

class PlainMemory final : public PixelMemory {
 public:
  std::byte* allocate(std::size_t bytes) override {
    const std::size_t alignment = bytes < huge_page ? pixel_alignment : huge_page;
    const std::size_t size = round_up(bytes, alignment);
    void* memory = size < bytes ? nullptr : std::aligned_alloc(alignment, size);
    if (memory == nullptr)
      throw Error(join("no memory for batches: cannot allocate ", bytes, " bytes"));
    // Huge pages need fewer TLB entries; a refusal only costs speed.
    if (alignment == huge_page) madvise(memory, size, MADV_HUGEPAGE);
    std::memset(memory, 0, size);
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory, std::size_t) noexcept override { std::free(memory); }
};

}  // namespace

PixelMemory& plain_memory() {
  static PlainMemory memory;
  return memory;
}

}  // namespace feedrate::loader
