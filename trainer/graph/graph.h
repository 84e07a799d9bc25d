#pragma once
// A network as a static graph: one definition for every backend. A Graph is plain data; the Builder
// checks names and shapes, so every Graph is valid.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/pixels/image.h"

namespace feedrate::trainer {

class Op;

/// The index of a node that does not exist.
inline constexpr std::size_t no_node = std::numeric_limits<std::size_t>::max();

/// Size of one image's values at a point of the graph; the graph does not know the batch size.
struct Extent {
  std::int64_t channels = 1;
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t elements() const { return channels * height * width; }
  bool operator==(const Extent&) const = default;
};

/// Initial values of a parameter: a function of (seed, parameter, element), the same on any device.
struct Init {
  enum class Rule : std::uint8_t {
    constant,            // value
    xavier,              // uniform ±sqrt(3 / fan_in): Caffe's
    glorot_uniform,      // uniform ±sqrt(6 / (fan_in + fan_out)): Keras'
    gaussian,            // mean 0, deviation `value`
    he_normal,           // mean 0, deviation sqrt(2 / fan_in)
    he_fan_out,          // mean 0, deviation sqrt(2 / fan_out)
    uniform,             // ±value
    uniform_fan_in,      // uniform ±sqrt(1 / fan_in): PyTorch's default
    orthogonal_columns,  // columns of length 1, from normal values: Keras' for recurrent weights
    second_quarter,      // `value` in it, 0 elsewhere: the bias of an LSTM's forget gates
  };
  Rule rule = Rule::constant;
  double value = 0;
};

struct Parameter {
  std::string name;  // "conv1.weight", PyTorch's style
  /// Canonical: O,I/groups,H,W for conv, O,I for dense (I in C,H,W order).
  std::vector<std::int64_t> shape{};
  Init init{};
  double rate_scale = 1;   // times the learning rate (Caffe's lr_mult)
  double decay_scale = 1;  // times the weight decay (Caffe's decay_mult)
  bool learned = true;     // false: running statistics, which have no gradient
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

/// Nodes in an order in which they can run: nodes[0] is the input, the last one the loss. Other
/// losses are those of auxiliary heads.
struct Graph {
  std::string network;
  formats::Shape input;  // of an image
  std::uint32_t classes = 0;
  std::vector<Node> nodes;
  std::vector<Parameter> parameters;
  std::int64_t parameter_count() const;  // learned values
  std::uint64_t macs() const;            // multiply-adds, forward, one image
  std::uint64_t macs(const Node& node) const;
  std::uint64_t activations() const;  // values in all outputs, forward, one image
  /// By node: whether only auxiliary losses depend on it. Evaluation skips such nodes.
  std::vector<bool> training_only() const;
};

/// Builds a graph. Each call adds a node and returns its index, which stands for its output. The
/// node is named after its op and a number ("conv1") unless `name` is given. Throws Error when
/// shapes do not fit.
class Builder {
 public:
  using Value = std::size_t;
  struct Layer {
    std::string name{};  // "": the name of the op and a number
    Init weight{Init::Rule::xavier, 0};
    Init bias{Init::Rule::constant, 0};
    double bias_rate_scale = 1;
    double bias_decay_scale = 1;
    bool no_bias = false;     // for a conv before a batch_norm, which has a bias
    std::int64_t groups = 1;  // of a conv: each group sees only its share of the channels
  };
  struct Norm {
    double epsilon = 1e-5;
    double momentum = 0.1;  // the share of a new batch in the running statistics
    double weight = 1;      // initial
  };

  /// Local response normalisation across channels.
  struct Response {
    std::int64_t size = 5;
    double alpha = 1e-4;
    double beta = 0.75;
    double k = 1;
  };

  Builder(std::string network, formats::Shape input, std::uint32_t classes);

  /// value = (pixel − mean) × scale, u8 HWC → float.
  Value input(double scale, double mean = 0);
  Value conv(Value x, std::int64_t filters, std::int64_t kernel, std::int64_t stride,
             std::int64_t pad, const Layer& layer);
  Value max_pool(Value x, std::int64_t kernel, std::int64_t stride, std::int64_t pad = 0);
  /// As in Caffe: a last partial window counts too.
  Value max_pool_ceil(Value x, std::int64_t kernel, std::int64_t stride, std::int64_t pad = 0);
  /// Mean of each window; padding does not count.
  Value avg_pool(Value x, std::int64_t kernel, std::int64_t stride);
  /// Means of bins × bins windows that divide the image evenly.
  Value avg_pool_bins(Value x, std::int64_t bins);
  /// Mean of each channel.
  Value global_avg_pool(Value x);
  Value batch_norm(Value x, const Norm& norm);
  /// Every stride-th value, with channels of zeros appended up to `filters` channels.
  Value shortcut(Value x, std::int64_t filters, std::int64_t stride);
  Value lrn(Value x, const Response& response);
  /// The channels of all values, concatenated.
  Value concat(std::vector<Value> values);
  /// a + b, which must have the same extent.
  Value sum(Value a, Value b);
  Value dense(Value x, std::int64_t units, const Layer& layer);
  /// A long short-term memory over the image's rows; its output is the hidden state after the last
  /// row. `layer.weight` initialises the input weights; recurrent weights and biases start as in
  /// Keras.
  Value lstm(Value x, std::int64_t units, const Layer& layer);
  Value relu(Value x);
  Value dropout(Value x, double share);
  /// The loss of an auxiliary head, which counts `weight` times in training. Evaluation skips the
  /// nodes that lead only to it.
  void auxiliary_loss(Value logits, double weight);
  /// Softmax cross-entropy, mean over the batch, and top-1 and top-5 correctness. Ends the graph.
  Graph softmax_loss(Value logits);

  /// Adds any op by its name; the functions above call this.
  Value add(std::string_view op, std::vector<Value> inputs, Attributes attributes,
            const Layer& layer);

 private:
  Graph graph_;
};

}  // namespace feedrate::trainer
