#pragma once
// GoogLeNet's inception modules (Szegedy et al. 2014), the same in all its forms.

#include "trainer/graph/graph.h"

namespace feedrate::trainer {

/// Filters of the four branches: 1x1; reduction and 3x3; reduction and 5x5; after pooling.
struct Inception {
  std::int64_t one, reduced3, three, reduced5, five, pooled;
};
inline constexpr Inception inceptions[] = {
    {64, 96, 128, 16, 32, 32},     {128, 128, 192, 32, 96, 64},   {192, 96, 208, 16, 48, 64},
    {160, 112, 224, 24, 64, 64},   {128, 128, 256, 24, 64, 64},   {112, 144, 288, 32, 64, 64},
    {256, 160, 320, 32, 128, 128}, {256, 160, 320, 32, 128, 128}, {384, 192, 384, 48, 128, 128}};

/// conv(x, filters, kernel) is that of the form; kernel5 is the kernel of the branch that is 5x5 in
/// the paper.
template <class Conv>
Builder::Value inception(Builder& b, Builder::Value x, const Inception& filters,
                         std::int64_t kernel5, const Conv& conv) {
  // The elements of a braced list, unlike function arguments, are evaluated in this order.
  return b.concat({conv(x, filters.one, 1), conv(conv(x, filters.reduced3, 1), filters.three, 3),
                   conv(conv(x, filters.reduced5, 1), filters.five, kernel5),
                   conv(b.max_pool(x, 3, 1, 1), filters.pooled, 1)});
}

}  // namespace feedrate::trainer
