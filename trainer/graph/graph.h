#pragma once
// A network as a static graph: one definition for every backend. Values, no behaviour; building
// checks names and shapes, so a Graph that exists is sound.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/pixels/image.h"

namespace feedrate::trainer {

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
    constant,            // value
    xavier,              // uniform ±sqrt(3 / fan_in): Caffe's
    glorot_uniform,      // uniform ±sqrt(6 / (fan_in + fan_out)): Keras'
    gaussian,            // mean 0, deviation `value`
    he_normal,           // mean 0, deviation sqrt(2 / fan_in)
    he_fan_out,          // mean 0, deviation sqrt(2 / fan_out)
    uniform,             // ±value
    uniform_fan_in,      // uniform ±sqrt(1 / fan_in): PyTorch's, when nothing is said
    orthogonal_columns,  // of length 1, of normal values: Keras' for recurrent weights
    second_quarter,      // value there, 0 elsewhere: the bias of an LSTM's forget gates
  };
  Rule rule = Rule::constant;
  double value = 0;
};

struct Parameter {
  std::string name;  // "conv1.weight", PyTorch's style
  std::vector<std::int64_t>
      shape{};  // canonical: O,I/groups,H,W for conv, O,I for dense (I in C,H,W order)
  Init init{};
  double rate_scale = 1;   // times the learning rate (Caffe's lr_mult)
  double decay_scale = 1;  // times the weight decay (Caffe's decay_mult)
  bool learned = true;     // false: statistics that forward keeps in training, without a gradient
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

/// nodes[0] is the input, the last node the loss; in an order in which they can run. Losses before
/// the last are those of auxiliary heads.
struct Graph {
  std::string network;
  formats::Shape input;  // of the pixels it takes
  std::uint32_t classes = 0;
  std::vector<Node> nodes;
  std::vector<Parameter> parameters;
  std::int64_t parameter_count() const;  // of those that are learned
  std::uint64_t macs() const;            // multiply-adds of conv and dense, forward, one image
  std::uint64_t activations() const;     // values that the nodes put out, forward, one image
  /// By node: whether nothing but an auxiliary head's loss comes of it. Evaluation leaves it out.
  std::vector<bool> training_only() const;
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
    bool no_bias = false;     // of a conv: a batch_norm that follows has one
    std::int64_t groups = 1;  // of a conv: each sees its share of the channels alone
  };
  struct Norm {
    double epsilon = 1e-5;
    double momentum = 0.1;  // the share of a new batch in the running statistics
    double weight = 1;      // at the start
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
  /// Caffe's: a last partial window counts too.
  Value max_pool_ceil(Value x, std::int64_t kernel, std::int64_t stride, std::int64_t pad = 0);
  /// Mean of each window, padding left out.
  Value avg_pool(Value x, std::int64_t kernel, std::int64_t stride);
  /// bins × bins means that share the image evenly.
  Value avg_pool_bins(Value x, std::int64_t bins);
  /// Mean of each channel.
  Value global_avg_pool(Value x);
  Value batch_norm(Value x, const Norm& norm);
  /// Every stride-th value, and channels of zeros up to `filters`.
  Value shortcut(Value x, std::int64_t filters, std::int64_t stride);
  Value lrn(Value x, const Response& response);
  /// Channels behind one another.
  Value concat(std::vector<Value> values);
  /// a + b, of one extent.
  Value sum(Value a, Value b);
  Value dense(Value x, std::int64_t units, const Layer& layer);
  /// A long short-term memory over the image's rows: its hidden state after the last. The layer's
  /// weight is that of the rows; recurrent weights and biases start as Keras' do.
  Value lstm(Value x, std::int64_t units, const Layer& layer);
  Value relu(Value x);
  Value dropout(Value x, double share);
  /// The loss of a head that helps in training: its `weight` part of the whole. Evaluation leaves
  /// out what leads to it alone.
  void auxiliary_loss(Value logits, double weight);
  /// Softmax cross-entropy, mean over the batch; and top-1 correctness. Ends the graph.
  Graph softmax_loss(Value logits);

  /// Any op by its name: what the calls above are made of.
  Value add(std::string_view op, std::vector<Value> inputs, Attributes attributes,
            const Layer& layer);

 private:
  Graph graph_;
};

}  // namespace feedrate::trainer
