#pragma once
// A product of two bf16 matrices by oneDNN, summed in fp32. Each thread computes a part by itself,
// because oneDNN's own threads spin while they wait for one another. Private to this folder's .cpp
// files.

#include <cstdint>
#include <dnnl.hpp>
#include <vector>

#include "trainer/backends/cpu/products/onednn_call.hpp"
#include "trainer/backends/cpu/threads/parallel.h"

namespace feedrate::trainer::cpu {

/// Row-major; `stride` elements from one row to the next.
inline dnnl::memory::desc matrix(std::int64_t rows, std::int64_t columns, std::int64_t stride,
                                 dnnl::memory::data_type type = dnnl::memory::data_type::bf16) {
  return {{rows, columns}, type, dnnl::memory::dims{stride, 1}};
}
inline dnnl::memory::desc transposed(const dnnl::memory::desc& matrix) {
  return matrix.permute_axes({1, 0});
}

class Bf16Product {
 public:
  /// The parts of the matrices that a thread reads and writes, and their first elements.
  struct Part {
    dnnl::memory::desc a, b, c;
    std::int64_t a_first, b_first, c_first;
  };

  /// Adds the part of one thread.
  void add(const Part& part) {
    const auto product = describe<dnnl::matmul>(own_scratchpad(), part.a, part.b, part.c);
    Call call(dnnl::matmul(product), product);
    call.reads(DNNL_ARG_SRC, part.a, part.a);
    call.reads(DNNL_ARG_WEIGHTS, part.b, part.b);
    call.writes(DNNL_ARG_DST, part.c, part.c);
    shares_.push_back({part, std::move(call), dnnl::stream(engine())});
  }

  std::size_t scratch_bytes() const {
    std::size_t bytes = 0;
    for (const Share& share : shares_) bytes += share.call.scratch_bytes();
    return bytes;
  }

  void bind(void* a, void* b, void* c, std::byte* scratch) {
    for (Share& share : shares_) {
      const Part& part = share.part;
      share.call.bind(
          {at(part.a, a, part.a_first), at(part.b, b, part.b_first), at(part.c, c, part.c_first)},
          scratch);
      scratch += share.call.scratch_bytes();
    }
  }

  void run() {
    on_threads(static_cast<unsigned>(shares_.size()),
               [this](unsigned number) { shares_[number].call.run(shares_[number].stream); });
  }

 private:
  static void* at(const dnnl::memory::desc& matrix, void* start, std::int64_t element) {
    const auto bytes = static_cast<std::int64_t>(dnnl::memory::data_type_size(type_of(matrix)));
    return static_cast<std::byte*>(start) + element * bytes;
  }

  struct Share {
    Part part;
    Call call;
    dnnl::stream stream;
  };
  std::vector<Share> shares_;
};

}  // namespace feedrate::trainer::cpu
