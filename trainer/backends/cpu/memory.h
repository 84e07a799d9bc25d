#pragma once
// Memory of a session: one block, aligned to cache lines and zeroed, so that every page is touched.

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#include "formats/base/bytes.h"
#include "formats/base/error.h"

namespace feedrate::trainer::cpu {

class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(formats::round_up(bytes, alignment)) {
    if (bytes_ == 0) return;
    start_.reset(new (std::align_val_t{alignment}, std::nothrow) std::byte[bytes_]);
    if (start_ == nullptr) {
      throw formats::Error(
          formats::join("no memory for a session of ", bytes_ >> 20, " MiB on the cpu"));
    }
    std::memset(start_.get(), 0, bytes_);
  }
  std::byte* at(std::size_t offset) const { return start_.get() + offset; }
  float* floats() const { return reinterpret_cast<float*>(start_.get()); }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t alignment = formats::cache_line;
  struct Release {
    void operator()(std::byte* start) const {
      operator delete[](start, std::align_val_t{alignment});
    }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Release> start_;
};

}  // namespace feedrate::trainer::cpu
