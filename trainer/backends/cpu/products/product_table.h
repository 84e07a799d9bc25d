#pragma once
// Which library and precision multiply fastest, by kind of processor: a table of limits on shapes,
// measured by bench_products. Nothing is timed while training: the same processor gives the same
// choices, and so the same bits. Safe from any thread.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace feedrate::trainer::cpu {

/// The limits of one kind of processor. Shares are 0 … 1 of the work of oneDNN's blocks of 16
/// channels that is not padding.
struct ProductLimits {
  std::string_view processor;  // one of processor_kind()'s; "": any without a row of its own

  // oneDNN computes a convolution in fp32 if its share is at least so large: of the filters, where
  // the input has too few channels to be blocked, otherwise of channels and filters together.
  double filters_of_few_channels;
  double both;
  double both_in_bf16;  // the same in bf16

  // What bf16 costs, in the multiply-adds of a step that outweigh it: passes over memory that round
  // values and weights, and what each layer costs whatever its size.
  std::int64_t macs_a_value;
  std::int64_t macs_a_weight;
  std::int64_t macs_a_layer;

  // oneDNN computes a matrix product in fp32 of at least so many multiply-adds; OpenBLAS a smaller
  // one.
  std::int64_t onednn_gemm_macs;
};

/// The row of this processor.
const ProductLimits& product_limits();
/// All rows, the one for any other processor last.
std::span<const ProductLimits> product_table();

/// What decides which kernels the libraries have for this processor: "zen4" or "zen5", else
/// oneDNN's widest instruction set: "amx", "avx512_bf16", "avx512", "avx2" or "older". It follows
/// ONEDNN_MAX_CPU_ISA.
std::string_view processor_kind();

/// Whether this processor has instructions for bf16 (avx512_bf16). It follows ONEDNN_MAX_CPU_ISA.
bool multiplies_bf16();

}  // namespace feedrate::trainer::cpu
