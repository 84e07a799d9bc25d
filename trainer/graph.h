#pragma once
// A network as a static graph: one definition for every backend. Values, no behaviour; building
// checks names and shapes, so a Graph that exists is sound.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/image.h"

namespace feedrate {

class Op;

/// Size of one image's values at a point of the graph; the batch is not part of a graph.
struct Extent {
  std::int64_t channels = 1;
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t elements() const { return channels * height * width; }
  bool operator==(const Extent&) const = default;
};

/// How a parameter starts: a pure function of (seed, parameter, element), the same on every device.
struct Init {
  enum class Rule : std::uint8_t {
    constant,        // value
    xavier,          // uniform ±sqrt(3 / fan_in): Caffe's
    glorot_uniform,  // uniform ±sqrt(6 / (fan_in + fan_out)): Keras'
    gaussian,        // mean 0, deviation `value`
  };
  Rule rule = Rule::constant;
  double value = 0;
};

struct Parameter {
  std::string name;  // "conv1.weight", PyTorch's style
  std::vector<std::int64_t>
      shape{};  // canonical: O,I,H,W for conv, O,I for dense (I in C,H,W order)
  Init init{};
  double rate_scale = 1;   // times the learning rate (Caffe's lr_mult)
  double decay_scale = 1;  // times the weight decay (Caffe's decay_mult)
  std::int64_t elements() const;
};

/// Numbers that define an op: {"filters", 20}, {"kernel", 5}. Absent means 0.
class Attributes : public std::map<std::string, double, std::less<>> {
 public:
  using map::map;
  double number(std::string_view name, double absent = 0) const;
  std::int64_t integer(std::string_view name, std::int64_t absent = 0) const;
};

struct Node {
  std::string name;
  const Op* op = nullptr;
  std::vector<std::size_t> inputs;  // nodes, all earlier
  Attributes attributes;
  Extent extent;                        // of its output
  std::vector<std::size_t> parameters;  // in Graph::parameters
};

/// nodes[0] is the input, the last node the loss; in an order in which they can run.
struct Graph {
  std::string network;
  Shape input;  // of the pixels it takes
  std::uint32_t classes = 0;
  std::vector<Node> nodes;
  std::vector<Parameter> parameters;
  std::int64_t parameter_count() const;
  std::uint64_t macs() const;  // multiply-adds of conv and dense, forward, one image
};

/// Writes a graph down. Each call adds a node named after its op and a number ("conv1") unless
/// `name` is given, and returns the index of its output. Throws Error when shapes do not fit.
class Builder {
 public:
  using Value = std::size_t;
  struct Layer {
    std::string name{};  // "": the op's name and a number
    Init weight{Init::Rule::xavier, 0};
    Init bias{Init::Rule::constant, 0};
    double bias_rate_scale = 1;
    double bias_decay_scale = 1;
  };

  Builder(std::string network, Shape input, std::uint32_t classes);

  /// value = (pixel − mean) × scale, u8 HWC → float.
  Value input(double scale, double mean = 0);
  Value conv(Value x, std::int64_t filters, std::int64_t kernel, std::int64_t stride,
             std::int64_t pad, const Layer& layer);
  Value max_pool(Value x, std::int64_t kernel, std::int64_t stride, std::int64_t pad = 0);
  Value dense(Value x, std::int64_t units, const Layer& layer);
  Value relu(Value x);
  Value dropout(Value x, double share);
  /// Softmax cross-entropy, mean over the batch; and top-1 correctness. Ends the graph.
  Graph softmax_loss(Value logits);

  /// Any op by its name: what the calls above are made of.
  Value add(std::string_view op, std::vector<Value> inputs, Attributes attributes,
            const Layer& layer);

 private:
  Graph graph_;
};

}  // namespace feedrate
