#pragma once
// Which engine of a library computes which product of a network.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace feedrate::trainer {

/// A library's engine for one product of a node, as Backend::compile() has chosen it.
struct ProductEngine {
  std::string node;
  std::string product;  // "convolution", "gradient of a convolution's input" …
  std::string name;     // its number in the library, and the choices for its knobs
  /// What the library says of its numbers: "tensor core", "winograd" …
  std::vector<std::string> notes{};
  std::size_t workspace = 0;  // bytes
  /// The time of a call, measured once for this shape; absent where nothing was measured.
  std::optional<float> milliseconds{};
  std::string fallback{};  // why a faster engine was expected; "": none was
  /// Engines whose results were measured to be wrong, each with how wrong; empty where the choice was
  /// kept from an earlier one.
  std::vector<std::string> passed_over{};
};

}  // namespace feedrate::trainer
