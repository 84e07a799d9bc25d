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

/// Two sums over a column.
template <class T>
struct ColumnSums {
  T first, second;
};
/// The type in which a thread sums values of T; sums over threads and bands are fp64.
template <class T>
using SumOf = std::conditional_t<narrow<T>, float, double>;

template <unsigned lanes, class Sum, class Term>
__global__ void bands_kernel(std::int64_t rows, std::int64_t columns, Term term,
                             ColumnSums<Sum>* bands) {
  __shared__ ColumnSums<Sum> all[block_threads * lanes];
  const ColumnWalk walk(lanes);
  ColumnSums<Sum> sums[lanes] = {};
  for (std::int64_t row = walk.row; row < rows && walk.column < columns; row += walk.stride) {
    term(walk.column, row * columns + walk.column, sums);
  }
  for (unsigned k = 0; k < lanes; ++k) all[threadIdx.x * lanes + k] = sums[k];
  __syncthreads();
  constexpr unsigned wide = columns_wide * lanes;
  const std::int64_t column = std::int64_t{blockIdx.x} * wide + threadIdx.x;
  if (threadIdx.x >= wide || column >= columns) return;
  ColumnSums<double> sum{};
  for (unsigned row = 0; row < columns_high; ++row) {
    sum.first += static_cast<double>(all[row * wide + threadIdx.x].first);
    sum.second += static_cast<double>(all[row * wide + threadIdx.x].second);
  }
  bands[blockIdx.y * columns + column] = {static_cast<Sum>(sum.first),
                                          static_cast<Sum>(sum.second)};
}

template <class Sum, class Finish>
__global__ void finish_kernel(std::int64_t bands, std::int64_t columns,
                              const ColumnSums<Sum>* of_bands, Finish finish) {
  const std::int64_t column = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  ColumnSums<double> sum{};
  for (std::int64_t band = 0; band < bands; ++band) {
    sum.first += static_cast<double>(of_bands[band * columns + column].first);
    sum.second += static_cast<double>(of_bands[band * columns + column].second);
  }
  finish(column, sum);
}

/// Bytes of scratch that sum_columns() needs for values of T.
template <class T>
std::size_t column_scratch(const Context& context, std::int64_t rows, std::int64_t columns) {
  return column_blocks(context, rows, columns, lanes_of<T>(columns)).y *
         static_cast<std::size_t>(columns) * sizeof(ColumnSums<SumOf<T>>);
}

/// Sums over columns of values of T, in a fixed order: calls term(column, offset, sums[lanes]) for
/// all rows, then finish(column, sums) for each column.
template <class T, unsigned lanes, class Term, class Finish>
void sum_columns(const Context& context, const char* name, std::int64_t rows, std::int64_t columns,
                 Term term, Finish finish, std::byte* scratch) {
  auto* bands = reinterpret_cast<ColumnSums<SumOf<T>>*>(scratch);
  const dim3 blocks = column_blocks(context, rows, columns, lanes);
  launch(context, name, bands_kernel<lanes, SumOf<T>, Term>, blocks, block_threads, rows, columns,
         term, bands);
  launch(context, name, finish_kernel<SumOf<T>, Finish>,
         static_cast<unsigned>((columns + block_threads - 1) / block_threads), block_threads,
         std::int64_t{blocks.y}, columns, bands, finish);
}

}  // namespace feedrate::trainer::cuda
