#include "trainer/backends/cuda/products/conv_check.cuh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "formats/base/random.h"
#include "trainer/backends/cuda/kernels/kernels.cuh"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

constexpr unsigned samples = 64;

/// The sides of a convolution, and where its values lie.
struct ConvSides {
  std::int64_t images, height, width, channels;  // of x
  std::int64_t out_height, out_width, filters;   // of y
  std::int64_t kernel, stride, pad, groups;
  std::int64_t x_pixel, y_pixel;  // values from one pixel to the next
  __device__ std::int64_t group_channels() const { return channels / groups; }
  __device__ std::int64_t group_filters() const { return filters / groups; }
  __device__ std::int64_t x(std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) const {
    return ((n * height + h) * width + w) * x_pixel + c;
  }
  __device__ std::int64_t y(std::int64_t n, std::int64_t p, std::int64_t q, std::int64_t k) const {
    return ((n * out_height + p) * out_width + q) * y_pixel + k;
  }
  __device__ std::int64_t filter(std::int64_t k, std::int64_t r, std::int64_t s,
                                 std::int64_t c) const {
    return ((k * kernel + r) * kernel + s) * group_channels() + c;
  }
};

/// One product of a sum: the places of its factors; `outside` the image there is none.
struct Factors {
  std::int64_t first, second;
  bool outside;
};

/// A result of a direction, the `number`-th of all: where it lies, and the terms() that it sums.
template <ConvDirection direction>
struct Sum;

template <>
struct Sum<ConvDirection::forward> {
  ConvSides of;
  std::int64_t n, p, q, k;
  __device__ Sum(const ConvSides& sides, std::int64_t number) : of(sides) {
    k = number % of.filters;
    q = number / of.filters % of.out_width;
    p = number / of.filters / of.out_width % of.out_height;
    n = number / of.filters / of.out_width / of.out_height;
  }
  __device__ std::int64_t place() const { return of.y(n, p, q, k); }
  __device__ std::int64_t terms() const { return of.kernel * of.kernel * of.group_channels(); }
  __device__ Factors term(std::int64_t i) const {
    const std::int64_t c = i % of.group_channels(), tap = i / of.group_channels();
    const std::int64_t r = tap / of.kernel, s = tap % of.kernel;
    const std::int64_t h = p * of.stride - of.pad + r, w = q * of.stride - of.pad + s;
    const bool outside = h < 0 || h >= of.height || w < 0 || w >= of.width;
    const std::int64_t channel = k / of.group_filters() * of.group_channels() + c;
    return {of.x(n, h, w, channel), of.filter(k, r, s, c), outside};
  }
};

template <>
struct Sum<ConvDirection::data> {
  ConvSides of;
  std::int64_t n, h, w, c;
  __device__ Sum(const ConvSides& sides, std::int64_t number) : of(sides) {
    c = number % of.channels;
    w = number / of.channels % of.width;
    h = number / of.channels / of.width % of.height;
    n = number / of.channels / of.width / of.height;
  }
  __device__ std::int64_t place() const { return of.x(n, h, w, c); }
  __device__ std::int64_t terms() const { return of.kernel * of.kernel * of.group_filters(); }
  __device__ Factors term(std::int64_t i) const {
    const std::int64_t tap = i / of.group_filters();
    const std::int64_t group = c / of.group_channels();
    const std::int64_t k = group * of.group_filters() + i % of.group_filters();
    const std::int64_t r = tap / of.kernel, s = tap % of.kernel;
    const std::int64_t up = h + of.pad - r, left = w + of.pad - s;
    const std::int64_t p = up / of.stride, q = left / of.stride;
    const bool outside = up < 0 || left < 0 || up % of.stride != 0 || left % of.stride != 0 ||
                         p >= of.out_height || q >= of.out_width;
    return {of.y(n, p, q, k), of.filter(k, r, s, c % of.group_channels()), outside};
  }
};

template <>
struct Sum<ConvDirection::filters> {
  ConvSides of;
  std::int64_t k, r, s, c;
  __device__ Sum(const ConvSides& sides, std::int64_t number) : of(sides) {
    c = number % of.group_channels();
    s = number / of.group_channels() % of.kernel;
    r = number / of.group_channels() / of.kernel % of.kernel;
    k = number / of.group_channels() / of.kernel / of.kernel;
  }
  __device__ std::int64_t place() const { return of.filter(k, r, s, c); }
  __device__ std::int64_t terms() const { return of.images * of.out_height * of.out_width; }
  __device__ Factors term(std::int64_t i) const {
    const std::int64_t q = i % of.out_width, p = i / of.out_width % of.out_height;
    const std::int64_t n = i / of.out_width / of.out_height;
    const std::int64_t h = p * of.stride - of.pad + r, w = q * of.stride - of.pad + s;
    const bool outside = h < 0 || h >= of.height || w < 0 || w >= of.width;
    const std::int64_t channel = k / of.group_filters() * of.group_channels() + c;
    return {of.x(n, h, w, channel), of.y(n, p, q, k), outside};
  }
};

/// What a thread has found of a result; the host adds the threads of each.
struct Sample {
  double found, exact, squares, terms;
};

// A block for each result.
template <class T, ConvDirection direction>
__global__ void samples_of(ConvSides sides, const std::int64_t* numbers, const T* first,
                           const T* second, const T* result, Sample* out) {
  begin_kernel();
  const Sum<direction> sum(sides, numbers[blockIdx.x]);
  Sample own{};
  for (std::int64_t i = threadIdx.x; i < sum.terms(); i += block_threads) {
    const Factors factors = sum.term(i);
    if (factors.outside) continue;
    const double product = static_cast<double>(static_cast<float>(first[factors.first])) *
                           static_cast<double>(static_cast<float>(second[factors.second]));
    own.exact += product;
    own.squares += product * product;
    own.terms += 1;
  }
  if (threadIdx.x == 0) own.found = static_cast<double>(static_cast<float>(result[sum.place()]));
  out[std::int64_t{blockIdx.x} * block_threads + threadIdx.x] = own;
}

/// What rounding explains: of sums in fp32, of results, and of factors.
double allowed(const Sample& sample, ValueType type, Arithmetic arithmetic) {
  constexpr double ulp = 0x1p-24;  // half of one of 1, in fp32
  const double size = std::max(std::sqrt(sample.squares), std::abs(sample.exact));
  // A chain of n sums errs by some 0.3 √n; a transform (Winograd's) by some tens.
  double share = ulp * (2 * std::sqrt(sample.terms) + 64);
  if (type == ValueType::fp32 && arithmetic == Arithmetic::tensor_cores) {
    // Each factor is cut off to 10 bits. A tensor core cuts off what it adds 8 products to, so that
    // a chain errs to one side: an H200 lost 0.9 to 1.4 times 2^-27 of the size a term, over 200,704
    // and 802,816 terms.
    share += 2 * 0x1p-10 + 0x1p-26 * sample.terms;
  }
  const double rounds = type == ValueType::bf16 ? 0x1p-8 : type == ValueType::fp16 ? 0x1p-11 : 0;
  constexpr double smallest_half = 0x1p-24;
  return share * size + rounds * std::abs(sample.exact) + smallest_half;
}

struct Tensors {
  const void* first;
  const void* second;
  const void* result;
  std::int64_t results;  // how many
};

Tensors tensors_of(const ConvSides& of, ConvDirection direction, const ConvBuffers& buffers) {
  switch (direction) {
    case ConvDirection::forward:
      return {buffers.x, buffers.filter, buffers.y,
              of.images * of.out_height * of.out_width * of.filters};
    case ConvDirection::data:
      return {buffers.y, buffers.filter, buffers.x, of.images * of.height * of.width * of.channels};
    case ConvDirection::filters:
      break;
  }
  return {buffers.x, buffers.y, buffers.filter,
          of.filters * of.kernel * of.kernel * of.channels / of.groups};
}

template <class T>
void launch_samples(const Context& context, const ConvSides& sides, ConvDirection direction,
                    const std::int64_t* numbers, const Tensors& tensors, Sample* out) {
  const auto run = [&](auto kernel) {
    launch(context, "results of a convolution", kernel, samples, block_threads, sides, numbers,
           static_cast<const T*>(tensors.first), static_cast<const T*>(tensors.second),
           static_cast<const T*>(tensors.result), out);
  };
  switch (direction) {
    case ConvDirection::forward:
      return run(samples_of<T, ConvDirection::forward>);
    case ConvDirection::data:
      return run(samples_of<T, ConvDirection::data>);
    case ConvDirection::filters:
      return run(samples_of<T, ConvDirection::filters>);
  }
}

}  // namespace

double error_of(const Context& context, const ConvShape& shape, ConvDirection direction,
                Arithmetic arithmetic, const ConvBuffers& buffers) {
  const ConvSides sides{shape.images,
                        shape.in.height,
                        shape.in.width,
                        shape.in.channels,
                        shape.out.height,
                        shape.out.width,
                        shape.out.channels,
                        shape.kernel,
                        shape.stride,
                        shape.pad,
                        shape.groups,
                        std::max(shape.in.channels, shape.x_pixel),
                        std::max(shape.out.channels, shape.y_pixel)};
  const Tensors tensors = tensors_of(sides, direction, buffers);
  std::vector<std::int64_t> numbers(samples);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] =
        static_cast<std::int64_t>(random_bits(2, i) % static_cast<std::uint64_t>(tensors.results));
  }
  const DeviceMemory at(samples * sizeof(std::int64_t), "numbers of a convolution's results");
  std::vector<Sample> found(samples * block_threads);
  const DeviceMemory of(found.size() * sizeof(Sample), "some of a convolution's results");
  const auto copy = [&](void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    check(cudaMemcpyAsync(to, from, bytes, kind, context.compute()), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(context.compute()), "cudaStreamSynchronize");
  };
  copy(at.data(), numbers.data(), at.bytes(), cudaMemcpyHostToDevice);
  with_type(shape.type, [&](auto value) {
    launch_samples<decltype(value)>(context, sides, direction, at.as<std::int64_t>(), tensors,
                                    of.as<Sample>());
  });
  copy(found.data(), of.data(), of.bytes(), cudaMemcpyDeviceToHost);
  double worst = 0;
  for (auto from = found.begin(); from != found.end(); from += block_threads) {
    Sample whole{};
    for (auto each = from; each != from + block_threads; ++each) {
      whole.found += each->found;
      whole.exact += each->exact;
      whole.squares += each->squares;
      whole.terms += each->terms;
    }
    const double error = std::abs(whole.found - whole.exact);
    if (!std::isfinite(error)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, error / allowed(whole, shape.type, arithmetic));
  }
  return worst;
}

}  // namespace feedrate::trainer::cuda
