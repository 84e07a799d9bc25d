#pragma once
// Memory that ends, or begins, at an unmapped page: the first byte read or written beyond it
// crashes the test program, with or without sanitizers.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "formats/base/bytes.h"

namespace feedrate::testing {
using namespace formats;

enum class Fence { before, behind };

class FencedBytes {
 public:
  FencedBytes(std::size_t size, Fence fence) : page_(static_cast<std::size_t>(getpagesize())) {
    const std::size_t pages = (size + page_ - 1) / page_ * page_;
    mapped_ = pages + 2 * page_;
    void* map = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    map_ = static_cast<std::byte*>(map);
    if (pages > 0 && mprotect(map_ + page_, pages, PROT_READ | PROT_WRITE) != 0) {
      throw std::bad_alloc();
    }
    bytes_ = {map_ + page_ + (fence == Fence::behind ? pages - size : 0), size};
  }
  FencedBytes(Bytes content, Fence fence) : FencedBytes(content.size(), fence) {
    std::copy(content.begin(), content.end(), bytes_.begin());
  }
  ~FencedBytes() { munmap(map_, mapped_); }
  FencedBytes(const FencedBytes&) = delete;
  FencedBytes& operator=(const FencedBytes&) = delete;

  MutableBytes bytes() const { return bytes_; }
  std::byte* data() const { return bytes_.data(); }

 private:
  std::size_t page_;
  std::size_t mapped_ = 0;
  std::byte* map_ = nullptr;
  MutableBytes bytes_;
};

}  // namespace feedrate::testing
