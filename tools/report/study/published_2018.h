#pragma once
// The best figures of the comparison of 2018, beside what these rows measured of the same case.

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/measure/row.h"
#include "tools/report/write/table.h"

namespace feedrate::tools {

inline constexpr std::string_view comparison_of_2018 =
    "“Introduction to Deep Learning: a practical point of view” (Piccione, UPV, 2018)";

/// One of its nine cases; what it does not give is absent.
struct Published {
  std::string_view name;     // "AlexNet, CIFAR-10"
  std::string_view network;  // ours: "alexnet:cifar", and its variants "alexnet:cifar-…"
  std::string_view images;   // what the path of such a dataset contains
  unsigned batch = 0;
  double p100 = 0;  // images/s on one NVIDIA P100, the best framework of five
  std::string_view p100_by;
  double cpu = 0;  // on 12 or 20 cores
  std::string_view cpu_by;
  std::optional<double> memory_mib{};  // of the GPU, the least of five
};
extern const std::array<Published, 9> published_2018;

/// The case that a row measures, by network and images; null for none.
const Published* case_of(const Run& run);

/// Every case with ours beside it; without rows where these hold none of them.
Table published_table(const std::vector<Run>& runs);

}  // namespace feedrate::tools
