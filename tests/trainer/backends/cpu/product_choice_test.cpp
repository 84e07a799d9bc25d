#include "trainer/backends/cpu/products/product_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "trainer/backends/cpu/products/gemm.h"
#include "trainer/graph/op.h"
#include "trainer/networks/network.h"

namespace feedrate::trainer::cpu {
namespace {

// Which convolutions and dense layers of LeNet at batch 64 multiply in bf16, in order.
std::vector<bool> lenet_in_bf16(const ProductLimits& limits) {
  const Plan plan = make_plan(network("lenet").build({28, 28, 1}, 10), 64);
  std::vector<bool> narrow;
  for (std::size_t i = 0; i < plan.graph.nodes.size(); ++i) {
    const Node& node = plan.graph.nodes[i];
    if (node.op->traits().weights == WeightKind::none) continue;
    LayerSite site{.graph = plan.graph, .number = i, .batch = plan.batch};
    site.input.extent = plan.graph.nodes[node.inputs[0]].extent;
    site.input_learns = plan.learns[node.inputs[0]];
    narrow.push_back(gains_by_bf16(site, limits));
  }
  return narrow;
}

// Whether oneDNN computes a convolution of these channels in fp32.
bool by_onednn(std::int64_t channels, std::int64_t filters, const ProductLimits& limits) {
  Builder b("conv", {9, 9, 3}, 5);
  const auto x = b.conv(b.input(1, 0), channels, 3, 1, 1, {});
  const Graph graph = b.softmax_loss(b.dense(b.conv(x, filters, 3, 1, 1, {}), 5, {}));
  LayerSite site{.graph = graph, .number = 2, .batch = 4};
  site.input.extent = graph.nodes[1].extent;
  return suits_onednn(site, limits);
}

TEST(UnitProductTable, has_a_row_for_each_processor_measured_and_one_for_all_others) {
  const std::set<std::string_view> kinds = {"zen4", "zen5", "amx", "avx512_bf16", "avx512", "avx2"};
  std::set<std::string_view> seen;
  for (const ProductLimits& row : product_table()) {
    EXPECT_TRUE(seen.insert(row.processor).second) << row.processor << " has two rows";
    const bool is_last = &row == &product_table().back();
    EXPECT_TRUE(is_last ? row.processor.empty() : kinds.contains(row.processor)) << row.processor;
  }
}

TEST(UnitProductTable, gives_each_processor_its_own_row_or_that_of_all_others) {
  const std::string_view own = product_limits().processor, kind = processor_kind();
  const bool measured = std::ranges::count(product_table(), kind, &ProductLimits::processor) != 0;
  EXPECT_EQ(own, measured ? kind : "");
}

TEST(UnitProductTable, even_small_layers_gain_by_bf16) {
  for (const ProductLimits& row : product_table()) {
    EXPECT_EQ(lenet_in_bf16(row), std::vector<bool>({false, true, true, false})) << row.processor;
  }
}

TEST(UnitProductTable, blocks_that_are_mostly_padding_are_left_to_matrix_products) {
  for (const ProductLimits& row : product_table()) {
    EXPECT_TRUE(by_onednn(64, 64, row)) << row.processor;
    EXPECT_TRUE(by_onednn(3, 64, row)) << row.processor;
    EXPECT_FALSE(by_onednn(20, 50, row)) << row.processor;
    EXPECT_FALSE(by_onednn(3, 20, row)) << row.processor;
    EXPECT_FALSE(by_onednn(8, 64, row)) << row.processor;
  }
}

// Both libraries, on threads that divide either side of the result.
TEST(UnitGemm, both_libraries_give_the_same_products_but_for_rounding) {
  constexpr std::int64_t m = 70, n = 50, k = 33;
  std::vector<float> a(m * k), b(k * n), c(m * n, 0.25F);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<float>(i));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<float>(i));
  use_one_blas_thread(3);
  for (const bool turn_a : {false, true}) {
    for (const bool turn_b : {false, true}) {
      const Gemm gemm{.m = m,
                      .n = n,
                      .k = k,
                      .a = {a.data(), turn_a ? m : k, turn_a},
                      .b = {b.data(), turn_b ? k : n, turn_b},
                      .keep = 1,
                      .c = nullptr,
                      .stride = n};
      const auto product = [&](auto by, unsigned threads) {
        std::vector<float> sum = c;
        Gemm own = gemm;
        own.c = sum.data();
        run_shared(own, threads, by);
        return sum;
      };
      const std::vector<float> expected = product(run_by_openblas, 1);
      for (const auto& found :
           {product(run_by_onednn, 1), product(run_by_onednn, 3), product(run, 2)}) {
        for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-4);
      }
    }
  }
}

}  // namespace
}  // namespace feedrate::trainer::cpu
