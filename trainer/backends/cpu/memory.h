#pragma once
// Memory of a session: taken at once, on cache lines, zeroed and thereby touched.

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#include "formats/base/error.h"
#include "trainer/backends/cpu/cache_line.h"
#include "trainer/graph/round_up.h"

namespace feedrate::trainer::cpu {

class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(round_up(bytes, cache_line)) {
    if (bytes_ == 0) return;
    start_.reset(new (std::align_val_t{cache_line}, std::nothrow) std::byte[bytes_]);
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
  struct Release {
    void operator()(std::byte* start) const {
      operator delete[](start, std::align_val_t{cache_line});
    }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Release> start_;
};

}  // namespace feedrate::trainer::cpu
