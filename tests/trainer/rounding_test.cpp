#include "tests/trainer/rounding.h"

#include "tests/trainer/cuda_parity.h"

namespace feedrate::testing {
namespace {

// As long as that of LeNet's first filters, in one chain, as a library may compute it.
TEST(UnitRounding, a_long_sum_in_one_chain_is_within_what_its_length_allows_and_not_without) {
  constexpr int terms = 36'864;
  std::vector<float> chains;
  std::vector<float> exact;
  for (std::uint64_t sum = 0; sum < 64; ++sum) {
    float chain = 0;
    double whole = 0;
    for (std::uint64_t i = 0; i < terms; ++i) {
      const float term = 2 * formats::unit_float(formats::random_bits(sum, i)) - 1;
      chain += term;
      whole += term;
    }
    chains.push_back(chain);
    exact.push_back(static_cast<float>(whole));
  }
  Rounding rounding;
  rounding.saw("sums", 0);
  const double found = relative_difference(chains, exact);
  EXPECT_GT(found, 2 * rounding.tolerance("sums"));
  EXPECT_LT(found, rounding.tolerance("sums", terms));
  EXPECT_LT(rounding.tolerance("sums", terms), 1e-4) << "a fault would not show";
}

TEST(UnitRounding, the_length_of_a_gradients_sum_is_that_of_its_images_and_places) {
  const trainer::Graph graph = trainer::network("lenet").build({28, 28, 1}, 10);
  const std::vector<double> terms = longest_sums(graph, 64);
  ASSERT_EQ(terms.size(), 8U);
  EXPECT_EQ(graph.parameters[0].name, "conv1.weight");
  EXPECT_EQ(terms[0], 64 * 24 * 24);
  EXPECT_EQ(terms[7], 800) << "the first dense layer sums that many, and comes before";
}

}  // namespace
}  // namespace feedrate::testing
