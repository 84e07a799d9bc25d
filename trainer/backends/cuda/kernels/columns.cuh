#pragma once
// Kernels that see values as a matrix: a row for every pixel of every image, a column for every
// channel. A thread stays in its columns, so it reads the values of its channels once.

#include <cstdint>
#include <type_traits>

#include "trainer/backends/cuda/kernels/kernels.cuh"

namespace feedrate::trainer::cuda {

/// The threads of a block form a grid of this width and height.
inline constexpr unsigned columns_wide = 8;
inline constexpr unsigned columns_high = block_threads / columns_wide;
/// The least number of rows for a thread, if that leaves enough blocks.
inline constexpr std::int64_t rows_a_thread = 8;

/// The grid: x over `columns` in groups of `lanes`, y over `rows` in bands.
inline dim3 column_blocks(const Context& context, std::int64_t rows, std::int64_t columns,
                          unsigned lanes) {
  const std::int64_t wide = (columns + columns_wide * lanes - 1) / (columns_wide * lanes);
  const std::int64_t enough =
      (rows + columns_high * rows_a_thread - 1) / (columns_high * rows_a_thread);
  const std::int64_t max_bands = std::max(
      std::int64_t{1}, std::int64_t{context.multiprocessors()} * blocks_per_multiprocessor / wide);
  return {static_cast<unsigned>(wide), static_cast<unsigned>(std::min(enough, max_bands))};
}

/// A thread's first column and the rows that it walks.
struct ColumnWalk {
  std::int64_t column, row, stride;
  __device__ explicit ColumnWalk(unsigned lanes)
      : column((std::int64_t{blockIdx.x} * columns_wide + threadIdx.x % columns_wide) * lanes),
        row(std::int64_t{blockIdx.y} * columns_high + threadIdx.x / columns_wide),
        stride(std::int64_t{gridDim.y} * columns_high) {}
};

template <unsigned lanes, class Body>
__global__ void columns_kernel(std::int64_t rows, std::int64_t columns, Body body) {
  begin_kernel();
  const ColumnWalk walk(lanes);
  if (walk.column >= columns) return;
  auto column = body.column(walk.column);
  for (std::int64_t row = walk.row; row < rows; row += walk.stride) {
    column(row, row * columns + walk.column);
  }
}

/// Calls body.column(c)(row, offset) for every `lanes`-th column c of every row. `columns` is a
/// multiple of `lanes`.
template <unsigned lanes, class Body>
void each_of_columns(const Context& context, const char* name, std::int64_t rows,
                     std::int64_t columns, Body body) {
  launch(context, name, columns_kernel<lanes, Body>, column_blocks(context, rows, columns, lanes),
         block_threads, rows, columns, body);
}

/// Sums over a column.
template <class T, unsigned count>
struct ColumnSums {
  T values[count];
};
/// The type in which a thread sums values of T; sums over threads and bands are fp64.
template <class T>
using SumOf = std::conditional_t<narrow<T>, float, double>;

/// The most blocks of a kernel that a multiprocessor runs at once, on any device.
inline constexpr unsigned max_resident_blocks = 2048 / block_threads;

/// How many blocks of the kernel a multiprocessor runs at once, by its registers and shared memory.
template <class... Parameters>
unsigned resident_blocks(void (*kernel)(Parameters...)) {
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, reinterpret_cast<const void*>(kernel), block_threads, 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return std::clamp(static_cast<unsigned>(blocks), 1U, max_resident_blocks);
}

/// The grid for sums: no more blocks than run at once, because what is left over would run on few
/// multiprocessors, and because the last block of a column adds all bands.
inline dim3 sum_blocks(const Context& context, std::int64_t rows, std::int64_t columns,
                       unsigned lanes, unsigned resident) {
  const dim3 blocks = column_blocks(context, rows, columns, lanes);
  const unsigned max_bands = std::max(1U, context.multiprocessors() * resident / blocks.x);
  return {blocks.x, std::min(blocks.y, max_bands)};
}

/// How many rows a thread has under way at once: of a term that loads little for each, more, so that
/// memory is kept busy. The term may not store.
template <class Term>
constexpr unsigned rows_at_once() {
  if constexpr (requires { Term::rows_at_once; }) return Term::rows_at_once;
  return 1;
}

// Each block sums a band of rows. The block that comes last adds the bands, always in the same
// order, so the bits do not depend on which one it is.
template <unsigned lanes, class Sum, unsigned count, class Term, class Finish>
__global__ void sums_kernel(std::int64_t rows, std::int64_t columns, Term term, Finish finish,
                            ColumnSums<Sum, count>* bands, unsigned* arrivals) {
  begin_kernel();
  constexpr unsigned wide = columns_wide * lanes;
  constexpr unsigned parts = block_threads / wide;
  __shared__ ColumnSums<Sum, count> of_threads[block_threads * lanes];
  __shared__ ColumnSums<double, count> of_parts[block_threads];
  __shared__ bool last;
  const ColumnWalk walk(lanes);
  ColumnSums<Sum, count> sums[lanes] = {};
  if (walk.column < columns) {
    const auto body = term.column(walk.column);
    constexpr unsigned at_once = rows_at_once<Term>();
    std::int64_t row = walk.row;
    for (; row + (at_once - 1) * walk.stride < rows; row += at_once * walk.stride) {
      for (unsigned k = 0; k < at_once; ++k) {
        const std::int64_t each = row + k * walk.stride;
        body(each, each * columns + walk.column, sums);
      }
    }
    for (; row < rows; row += walk.stride) body(row, row * columns + walk.column, sums);
  }
  for (unsigned k = 0; k < lanes; ++k) of_threads[threadIdx.x * lanes + k] = sums[k];
  __syncthreads();
  const unsigned own = threadIdx.x % wide, part = threadIdx.x / wide;
  const std::int64_t column = std::int64_t{blockIdx.x} * wide + own;
  if (part == 0 && column < columns) {
    for (unsigned v = 0; v < count; ++v) {
      double sum = 0;
      for (unsigned row = 0; row < columns_high; ++row) {
        sum += static_cast<double>(of_threads[row * wide + own].values[v]);
      }
      bands[blockIdx.y * columns + column].values[v] = static_cast<Sum>(sum);
    }
    __threadfence();  // before this block counts as arrived
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(arrivals + blockIdx.x, 1U) + 1 == gridDim.y;
    if (last) arrivals[blockIdx.x] = 0;  // for the next kernel
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  ColumnSums<double, count> sum{};
  for (std::int64_t band = part; band < gridDim.y && column < columns; band += parts) {
    for (unsigned v = 0; v < count; ++v) {
      // Other blocks have just written it: from the cache that all of them share.
      sum.values[v] += static_cast<double>(__ldcg(&bands[band * columns + column].values[v]));
    }
  }
  of_parts[threadIdx.x] = sum;
  __syncthreads();
  if (part != 0 || column >= columns) return;
  for (unsigned other = 1; other < parts; ++other) {
    for (unsigned v = 0; v < count; ++v) sum.values[v] += of_parts[other * wide + own].values[v];
  }
  finish(column, sum);
}

/// Bytes of scratch that sum_columns() needs for `count` sums over values of T.
template <class T, unsigned count>
std::size_t column_scratch(const Context& context, std::int64_t rows, std::int64_t columns) {
  return sum_blocks(context, rows, columns, lanes_of<T>(columns), max_resident_blocks).y *
         static_cast<std::size_t>(columns) * sizeof(ColumnSums<SumOf<T>, count>);
}

/// `count` sums over columns of values of T, in a fixed order: calls term.column(c)(row, offset,
/// sums[lanes]) for every `lanes`-th column c of all rows, then finish(column, sums) for each
/// column. One kernel.
template <class T, unsigned lanes, unsigned count, class Term, class Finish>
void sum_columns(const Context& context, const char* name, std::int64_t rows, std::int64_t columns,
                 Term term, Finish finish, std::byte* scratch) {
  constexpr auto kernel = sums_kernel<lanes, SumOf<T>, count, Term, Finish>;
  static const unsigned resident = resident_blocks(kernel);
  const dim3 blocks = sum_blocks(context, rows, columns, lanes, resident);
  launch(context, name, kernel, blocks, block_threads, rows, columns, term, finish,
         reinterpret_cast<ColumnSums<SumOf<T>, count>*>(scratch), context.arrivals(blocks.x));
}

template <class T, unsigned lanes>
struct SumRows {
  static constexpr unsigned rows_at_once = 2;
  const T* values;
  struct Column {
    const T* values;
    __device__ void operator()(std::int64_t, std::int64_t i, ColumnSums<SumOf<T>, 1>* sums) const {
      const auto found = load<T, lanes>(values + i);
      for (unsigned k = 0; k < lanes; ++k) sums[k].values[0] += found.values[k];
    }
  };
  __device__ Column column(std::int64_t) const { return {values}; }
};
struct WriteSum {
  float* sums;
  __device__ void operator()(std::int64_t column, const ColumnSums<double, 1>& sum) const {
    sums[column] = static_cast<float>(sum.values[0]);
  }
};

/// sums[column] = the sum over the rows of a row-major matrix, in a fixed order. `scratch` holds
/// column_scratch<T, 1>(rows, columns).
template <class T>
void sum_rows(const Context& context, const char* name, std::int64_t rows, std::int64_t columns,
              const T* values, float* sums, std::byte* scratch) {
  with_lanes<T>(columns, [&](auto lanes) {
    sum_columns<T, lanes, 1>(context, name, rows, columns, SumRows<T, lanes>{values},
                             WriteSum{sums}, scratch);
  });
}

}  // namespace feedrate::trainer::cuda
