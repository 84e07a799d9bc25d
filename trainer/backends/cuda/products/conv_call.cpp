#include "trainer/backends/cuda/products/conv_call.cuh"

#include <charconv>

#include "formats/base/bytes.h"
#include "formats/base/error.h"
#include "trainer/backends/cuda/layer.cuh"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

constexpr std::string_view in = " in ", suffix = " parts";

const std::byte* bytes_at(const void* memory) { return static_cast<const std::byte*>(memory); }

}  // namespace

std::string text_of_parts(std::int64_t parts) { return parts == 1 ? "" : join(in, parts, suffix); }

std::int64_t parts_in(const std::string& name) {
  const std::size_t begin = name.rfind(in);
  std::int64_t parts = 1;
  if (begin == std::string::npos || !name.ends_with(suffix)) return parts;
  const char* end = name.data() + name.size() - suffix.size();
  const auto [last, problem] = std::from_chars(name.data() + begin + in.size(), end, parts);
  return problem == std::errc() && last == end ? parts : 1;
}

std::size_t ConvCall::sum_bytes() const {
  const bool sums = direction_ == ConvDirection::filters && parts_ > 1;
  return sums ? round_up(part_.filter_bytes(), device_alignment) : 0;
}

void ConvCall::run(const Context& context, const ConvBuffers& buffers) {
  auto* const term = static_cast<std::byte*>(buffers.workspace);
  void* const workspace = term + sum_bytes();
  for (std::int64_t part = 0; part < parts_; ++part) {
    const auto number = static_cast<std::size_t>(part);
    const bool adds = sum_bytes() != 0 && part > 0;
    execution_.run(context.cudnn(),
                   {bytes_at(buffers.x) + number * part_.x_bytes(), adds ? term : buffers.filter,
                    bytes_at(buffers.y) + number * part_.y_bytes(), workspace});
    if (!adds) continue;
    // cuDNN takes inputs and outputs alike; here the filters are an output.
    add_values(context, term,
               static_cast<std::int64_t>(part_.filter_bytes() / bytes_of(part_.type)),
               static_cast<std::byte*>(const_cast<void*>(buffers.filter)));
  }
}

}  // namespace feedrate::trainer::cuda
