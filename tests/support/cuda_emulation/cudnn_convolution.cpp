#include "cudnn_convolution.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>

#include "numbers.h"
#include "queue.h"

namespace feedrate::emulation {
namespace {

constexpr std::size_t more_than_anybody_has = std::size_t{1} << 50;

// Timing decides between the last two of mode A and the one of the fallback.
const std::array<Engine, 10> engines = {{
    {0, {}, {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}},
    {1, {{CUDNN_KNOB_TYPE_TILE_SIZE, 4}}, {CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS}},
    {2, {}, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION}},
    {3, {{CUDNN_KNOB_TYPE_TILE_SIZE, 1}}, {}, more_than_anybody_has},
    {4, {{CUDNN_KNOB_TYPE_TILE_SIZE, 1}}, {}, 0, false},
    {5, {{CUDNN_KNOB_TYPE_TILE_SIZE, 1}}, {}, 0, true, false},
    {6, {{CUDNN_KNOB_TYPE_STAGES, 3}}, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, 0},
    {7, {{CUDNN_KNOB_TYPE_TILE_SIZE, 2}, {CUDNN_KNOB_TYPE_STAGES, 3}}, {}},
    {7, {{CUDNN_KNOB_TYPE_TILE_SIZE, 4}, {CUDNN_KNOB_TYPE_STAGES, 3}}, {}},
    {9, {}, {CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP}},
}};
constexpr std::size_t fallbacks = 1;

std::size_t place_of(const Engine& engine) {
  return static_cast<std::size_t>(&engine - engines.data());
}

// FEEDRATE_EMULATED_FASTEST is the index of the engine that takes a third of the others' time.
double milliseconds(std::size_t place) {
  const char* fastest = std::getenv("FEEDRATE_EMULATED_FASTEST");
  return fastest != nullptr && std::strtoul(fastest, nullptr, 10) == place ? 0.5 : 1.5;
}

bool listed(const char* name, std::size_t place) {
  const char* indices = std::getenv(name);
  return indices != nullptr &&
         std::string_view(indices).find(std::to_string(place)) != std::string::npos;
}

// FEEDRATE_EMULATED_BROKEN lists the engines that fail, one digit for the index of each;
// FEEDRATE_EMULATED_BROKEN_AFTER: the number of runs after which all fail.
bool broken(std::size_t place) {
  const auto& runs = counts().convolutions;
  const char* last = std::getenv("FEEDRATE_EMULATED_BROKEN_AFTER");
  if (last != nullptr &&
      std::accumulate(runs.begin(), runs.end(), 0UL) >= std::strtoul(last, nullptr, 10)) {
    return true;
  }
  return listed("FEEDRATE_EMULATED_BROKEN", place);
}

// FEEDRATE_EMULATED_ROUNDS lists, as above, the engines that round their inputs to 10 bits of
// mantissa and say nothing of it.
bool rounds(std::size_t place) { return listed("FEEDRATE_EMULATED_ROUNDS", place); }

// FEEDRATE_EMULATED_IDLE lists, as above, the engines that report success and write nothing.
bool idles(std::size_t place) { return listed("FEEDRATE_EMULATED_IDLE", place); }

using Sides = std::array<std::int64_t, 4>;

struct Tensor {
  std::int64_t uid;
  cudnnDataType_t type;
  Sides sides, strides;
  std::int64_t alignment;

  explicit Tensor(const Descriptor& from)
      : uid(from.one<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID)),
        type(from.one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE)),
        alignment(from.one<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT)) {
    const auto dimensions = from.all<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
    const auto steps = from.all<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
    std::copy(dimensions.begin(), dimensions.end(), sides.begin());
    std::copy(steps.begin(), steps.end(), strides.begin());
  }
  Number number() const {
    return type == CUDNN_DATA_HALF       ? Number::fp16
           : type == CUDNN_DATA_BFLOAT16 ? Number::bf16
                                         : Number::fp32;
  }
  std::size_t values() const {
    return static_cast<std::size_t>(sides[0] * sides[1] * sides[2] * sides[3]);
  }
  std::size_t at(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) const {
    return static_cast<std::size_t>(n * strides[0] + c * strides[1] + y * strides[2] +
                                    x * strides[3]);
  }
  bool planes() const {
    return strides == Sides{sides[1] * sides[2] * sides[3], sides[2] * sides[3], sides[3], 1};
  }
  /// Some channels of interleaved pixels, or all.
  bool interleaved() const {
    const std::int64_t pixel = strides[3];
    return pixel >= sides[1] &&
           strides == Sides{pixel * sides[2] * sides[3], 1, pixel * sides[3], pixel};
  }
  bool whole() const { return planes() || (interleaved() && strides[3] == sides[1]); }
  /// From the first value to behind the last.
  std::size_t span() const {
    return at(sides[0] - 1, sides[1] - 1, sides[2] - 1, sides[3] - 1) + 1;
  }
};

enum class Direction { forward, data, filters };

struct Operation {
  explicit Operation(const Descriptor& from)
      : direction(from.kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR
                      ? Direction::forward
                  : from.kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR
                      ? Direction::data
                      : Direction::filters),
        x(from.part(pick(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X))),
        w(from.part(pick(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW))),
        y(from.part(pick(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY))) {
    const Descriptor& window =
        from.part(pick(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC));
    stride = window.one<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
    pad = window.one<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
    alpha = from.one<float>(pick(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                 CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                 CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA));
    beta = from.one<float>(pick(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA));
  }
  template <class Name>
  Name pick(Name forward, Name data, Name filters) const {
    return direction == Direction::forward ? forward
           : direction == Direction::data  ? data
                                           : filters;
  }
  const Tensor& out() const {
    return direction == Direction::forward ? y : direction == Direction::data ? x : w;
  }

  std::int64_t groups() const { return x.sides[1] / w.sides[1]; }
  bool fits() const {
    const auto side = [this](int i) { return (x.sides[i] + 2 * pad - w.sides[i]) / stride + 1; };
    return x.sides[0] == y.sides[0] && x.sides[1] % w.sides[1] == 0 && w.sides[0] % groups() == 0 &&
           y.sides[1] == w.sides[0] && y.sides[2] == side(2) && y.sides[3] == side(3);
  }
  /// body(offset in x, in w, in y) for every multiplication.
  template <class Body>
  void each(Body body) const {
    for (std::int64_t n = 0; n < y.sides[0]; ++n)
      for (std::int64_t k = 0; k < y.sides[1]; ++k)
        for (std::int64_t oy = 0; oy < y.sides[2]; ++oy)
          for (std::int64_t ox = 0; ox < y.sides[3]; ++ox)
            for (std::int64_t c = 0; c < w.sides[1]; ++c)
              for (std::int64_t ky = 0; ky < w.sides[2]; ++ky)
                for (std::int64_t kx = 0; kx < w.sides[3]; ++kx) {
                  const std::int64_t iy = oy * stride - pad + ky;
                  const std::int64_t ix = ox * stride - pad + kx;
                  if (iy < 0 || iy >= x.sides[2] || ix < 0 || ix >= x.sides[3]) continue;
                  const std::int64_t channel = k / (w.sides[0] / groups()) * w.sides[1] + c;
                  body(x.at(n, channel, iy, ix), w.at(k, c, ky, kx), y.at(n, k, oy, ox));
                }
  }

  Direction direction;
  Tensor x, w, y;
  std::int64_t stride = 0, pad = 0;
  float alpha = 0, beta = 0;
};

/// The value of an element; tensor cores round fp32 to 10 bits of mantissa.
struct Factors {
  const void* memory;
  Number type;
  bool rounded;
  float operator[](std::size_t i) const {
    const float value = read(type, memory, i);
    if (!rounded || type != Number::fp32) return value;
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000U) & ~0x1fffU);
  }
};

bool good_memory(const Tensor& tensor, const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % static_cast<std::size_t>(tensor.alignment) ==
             0 &&
         room_at(memory) >= tensor.span() * bytes_of(tensor.number());
}

void compute(const Operation& operation, bool rounded, const std::map<std::int64_t, void*>& at) {
  const auto in = [&](const Tensor& tensor) {
    return Factors{at.at(tensor.uid), tensor.number(), rounded};
  };
  const Factors x = in(operation.x), w = in(operation.w), y = in(operation.y);
  std::vector<float> sums(operation.out().values());
  operation.each([&](std::size_t i, std::size_t j, std::size_t k) {
    switch (operation.direction) {
      case Direction::forward:
        sums[k] += x[i] * w[j];
        break;
      case Direction::data:
        sums[i] += y[k] * w[j];
        break;
      case Direction::filters:
        sums[j] += y[k] * x[i];
        break;
    }
  });
  for (std::size_t i = 0; i < sums.size(); ++i) {
    write(operation.out().number(), at.at(operation.out().uid), i, sums[i]);
  }
}

}  // namespace

// FEEDRATE_EMULATED_OFFER=reversed: as on another GPU, whose heuristics rank the engines
// differently.
std::vector<const Engine*> engines_of(cudnnBackendHeurMode_t mode) {
  std::vector<const Engine*> all;
  for (const Engine& engine : engines) {
    const bool falls_back = place_of(engine) + fallbacks >= engines.size();
    if (falls_back == (mode == CUDNN_HEUR_MODE_FALLBACK)) all.push_back(&engine);
  }
  const char* order = std::getenv("FEEDRATE_EMULATED_OFFER");
  if (order != nullptr && std::string_view(order) == "reversed") std::ranges::reverse(all);
  return all;
}

// FEEDRATE_EMULATED_IMAGES is the largest number of images for which engines need little workspace;
// that of the fallback does not depend on it.
std::size_t workspace_of(const Engine& engine, const Descriptor& operation) {
  const char* images = std::getenv("FEEDRATE_EMULATED_IMAGES");
  const bool falls_back = place_of(engine) + fallbacks >= engines.size();
  const bool too_many = images != nullptr && Operation(operation).x.sides[0] > std::atoi(images);
  return too_many && !falls_back ? more_than_anybody_has : engine.workspace;
}

cudnnStatus_t check_operation(const Descriptor& from) {
  const Operation operation(from);
  const Tensor &x = operation.x, &w = operation.w, &y = operation.y;
  if (x.uid == w.uid || x.uid == y.uid || w.uid == y.uid) {
    return CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES;
  }
  if (!operation.fits()) return CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH;
  if (x.type != w.type || x.type != y.type) return CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE;
  const bool planes = x.planes() && w.planes() && y.planes();
  const bool interleaved = x.interleaved() && w.interleaved() && y.interleaved();
  if ((!planes && !interleaved) || !operation.out().whole()) {
    return CUDNN_STATUS_NOT_SUPPORTED_LAYOUT;
  }
  const bool writes = operation.alpha == 1 && operation.beta == 0;
  return writes ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t convolve(cudnnHandle_t handle, const Descriptor& from, const Engine& engine,
                       const std::map<std::int64_t, void*>& at, void* workspace) {
  const Operation operation(from);
  for (const Tensor* tensor : {&operation.x, &operation.w, &operation.y}) {
    if (!at.contains(tensor->uid)) return CUDNN_STATUS_BAD_PARAM;
    if (!good_memory(*tensor, at.at(tensor->uid))) return CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER;
  }
  const std::size_t need = workspace_of(engine, from);
  if (need != 0 &&
      (reinterpret_cast<std::uintptr_t>(workspace) % 16 != 0 || room_at(workspace) < need)) {
    return CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT;
  }
  const std::size_t place = place_of(engine);
  if (!engine.runs || broken(place)) return CUDNN_STATUS_EXECUTION_FAILED;
  const bool tensor_cores =
      !engine.notes.empty() && engine.notes[0] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
  const bool rounded = tensor_cores || rounds(place);
  const bool taken = enqueue(handle->stream, [=] {
                       pass(milliseconds(place));
                       ++counts().convolutions[place];
                       if (need != 0) std::memset(workspace, 0xff, need);
                       if (!idles(place)) compute(operation, rounded, at);
                     }) == cudaSuccess;
  return taken ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

}  // namespace feedrate::emulation
