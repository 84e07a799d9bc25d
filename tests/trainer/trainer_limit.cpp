#include "tests/trainer/trainer_limit.h"

#include <algorithm>
#include <chrono>
#include <dnnl.hpp>
#include <memory>

#include "trainer/backends/cpu/products/gemm.h"
#include "trainer/backends/cpu/products/onednn_version.hpp"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/graph/op.h"

namespace feedrate::testing {
using namespace formats;
using namespace trainer;

namespace {

using cpu::describe;
using cpu::describe_backward;
using cpu::engine;
using cpu::Range;
using dnnl::memory;
using Way = std::function<void()>;

memory::desc any(memory::dims dims, memory::data_type type = memory::data_type::f32) {
  return {std::move(dims), type, memory::format_tag::any};
}

// The sizes of a layer; a dense layer is a convolution on one pixel.
struct Shape {
  std::int64_t batch, groups, channels, filters, kernel, stride, pad;
  Extent in, out;
  bool dense;
  bool input_learns;
  memory::data_type factors;  // results are fp32
};

Shape shape_of(const Plan& plan, std::size_t number, bool bf16) {
  const Node& node = plan.graph.nodes[number];
  const std::size_t input = node.inputs[0];
  const bool dense = node.op->traits().weights == WeightKind::matrix;
  const Extent in = plan.graph.nodes[input].extent;
  return {.batch = plan.batch,
          .groups = std::max<std::int64_t>(1, node.attributes.integer("groups")),
          .channels = dense ? in.elements() : in.channels,
          .filters = node.extent.channels,
          .kernel = dense ? 1 : node.attributes.integer("kernel"),
          .stride = node.attributes.integer("stride"),
          .pad = node.attributes.integer("pad"),
          .in = in,
          .out = node.extent,
          .dense = dense,
          .input_learns = plan.learns[input],
          .factors = bf16 ? memory::data_type::bf16 : memory::data_type::f32};
}

// Primitives with their own memory, every page of which has been touched.
class Primitives {
 public:
  explicit Primitives(const Shape& s) : stream_(engine()) {
    s.dense ? add_dense(s) : add_convolution(s);
  }
  void run() {
    for (auto& [primitive, arguments] : calls_) primitive.execute(stream_, arguments);
    stream_.wait();
  }

 private:
  memory fresh(const memory::desc& desc) {
    memory made(desc, engine());
    // A small number both in fp32 and in bf16.
    std::fill_n(static_cast<std::uint16_t*>(made.get_data_handle()),
                desc.get_size() / sizeof(std::uint16_t), std::uint16_t{0x3c24});
    return made;
  }

  void add_convolution(const Shape& s) {
    const auto direct = dnnl::algorithm::convolution_direct;
    const memory::dims in_dims = {s.batch, s.channels, s.in.height, s.in.width};
    const memory::dims out_dims = {s.batch, s.filters, s.out.height, s.out.width};
    const std::int64_t filters = s.filters / s.groups, channels = s.channels / s.groups;
    const memory::dims weights_dims =
        s.groups == 1 ? memory::dims{filters, channels, s.kernel, s.kernel}
                      : memory::dims{s.groups, filters, channels, s.kernel, s.kernel};
    const memory::desc in = any(in_dims, s.factors), out = any(out_dims, s.factors);
    const memory::desc weights = any(weights_dims, s.factors);
    const memory::dims strides(2, s.stride), pads(2, s.pad);
    const auto forward =
        describe<dnnl::convolution_forward>({}, dnnl::prop_kind::forward_training, direct, in,
                                            weights, any(out_dims), strides, pads, pads);
    add<dnnl::convolution_forward>(forward);
    add_weights<dnnl::convolution_backward_weights>(
        describe_backward<dnnl::convolution_backward_weights>(
            {}, forward, direct, in, any(weights_dims), out, strides, pads, pads));
    if (!s.input_learns) return;
    add_data<dnnl::convolution_backward_data>(describe_backward<dnnl::convolution_backward_data>(
        {}, forward, direct, any(in_dims), weights, out, strides, pads, pads));
  }

  void add_dense(const Shape& s) {
    const memory::dims in_dims = {s.batch, s.channels}, out_dims = {s.batch, s.filters};
    const memory::dims weights_dims = {s.filters, s.channels};
    const memory::desc in = any(in_dims, s.factors), out = any(out_dims, s.factors);
    const memory::desc weights = any(weights_dims, s.factors);
    const auto forward = describe<dnnl::inner_product_forward>(
        {}, dnnl::prop_kind::forward_training, in, weights, any(out_dims));
    add<dnnl::inner_product_forward>(forward);
    add_weights<dnnl::inner_product_backward_weights>(
        describe_backward<dnnl::inner_product_backward_weights>({}, forward, in, any(weights_dims),
                                                                out));
    if (!s.input_learns) return;
    add_data<dnnl::inner_product_backward_data>(
        describe_backward<dnnl::inner_product_backward_data>({}, forward, any(in_dims), weights,
                                                             out));
  }

  template <class Primitive, class Descriptor>
  void add(const Descriptor& d) {
    calls_.push_back({Primitive(d),
                      {{DNNL_ARG_SRC, fresh(d.src_desc())},
                       {DNNL_ARG_WEIGHTS, fresh(d.weights_desc())},
                       {DNNL_ARG_DST, fresh(d.dst_desc())}}});
  }
  template <class Primitive, class Descriptor>
  void add_weights(const Descriptor& d) {
    calls_.push_back({Primitive(d),
                      {{DNNL_ARG_SRC, fresh(d.src_desc())},
                       {DNNL_ARG_DIFF_DST, fresh(d.diff_dst_desc())},
                       {DNNL_ARG_DIFF_WEIGHTS, fresh(d.diff_weights_desc())}}});
  }
  template <class Primitive, class Descriptor>
  void add_data(const Descriptor& d) {
    calls_.push_back({Primitive(d),
                      {{DNNL_ARG_DIFF_DST, fresh(d.diff_dst_desc())},
                       {DNNL_ARG_WEIGHTS, fresh(d.weights_desc())},
                       {DNNL_ARG_DIFF_SRC, fresh(d.diff_src_desc())}}});
  }

  dnnl::stream stream_;
  std::vector<std::pair<dnnl::primitive, std::unordered_map<int, memory>>> calls_;
};

// The same as matrix products: convolutions image by image, with the images shared among threads.
class Products {
 public:
  Products(const Shape& s, unsigned threads)
      : shape_(s),
        threads_(threads),
        positions_(s.dense ? s.batch : s.out.height * s.out.width),
        patch_(s.channels * s.kernel * s.kernel),
        // Images are contiguous; each thread has the patches of one image at a time.
        out_(static_cast<std::size_t>(s.batch * s.out.elements()), 0.01F),
        patches_(static_cast<std::size_t>(positions_ * patch_ * threads), 0.01F),
        weights_(static_cast<std::size_t>(s.filters * patch_ * threads), 0.01F) {}

  void run() {
    if (shape_.dense) {
      products(0, 0, threads_);
      return;
    }
    cpu::on_threads(threads_, [this](unsigned thread) {
      const Range images = cpu::share_of(shape_.batch, thread, threads_);
      for (std::int64_t image = images.begin; image < images.end; ++image) {
        products(thread, image * shape_.out.elements(), 1);
      }
    });
  }

 private:
  void products(unsigned thread, std::int64_t image, unsigned threads) {
    float* out = out_.data() + image;
    float* patches = patches_.data() + thread * positions_ * patch_;
    float* weights = weights_.data() + thread * shape_.filters * patch_;
    const std::int64_t m = positions_, n = shape_.filters, k = patch_;
    const auto product = [threads](const cpu::Gemm& gemm) {
      threads == 1 ? cpu::run(gemm) : cpu::run_shared(gemm, threads);
    };
    product({m, n, k, {patches, k}, {weights, k, true}, 0, out, n});
    product({n, k, m, {out, n, true}, {patches, k}, 0, weights, k});
    if (shape_.input_learns) product({m, k, n, {out, n}, {weights, k}, 0, patches, k});
  }

  Shape shape_;
  unsigned threads_;
  std::int64_t positions_, patch_;
  std::vector<float> out_, patches_, weights_;
};

// The shortest of several runs, after one that is not counted.
double seconds(const Way& way) {
  double best = 1e9, spent = 0;
  way();
  for (int i = 0; i < 2 || (i < 20 && spent < 0.05); ++i) {
    const auto start = std::chrono::steady_clock::now();
    way();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
    spent += took.count();
  }
  return best;
}

Way by_primitives(const Shape& shape) {
  return [primitives = std::make_shared<Primitives>(shape)] { primitives->run(); };
}

std::size_t fastest(const std::vector<Way>& ways) {
  std::vector<double> took;
  for (const Way& way : ways) took.push_back(seconds(way));
  return static_cast<std::size_t>(std::ranges::min_element(took) - took.begin());
}

}  // namespace

Limit::Limit(const Plan& plan, unsigned threads, bool bf16) {
  for (std::size_t i = 0; i < plan.graph.nodes.size(); ++i) {
    if (plan.graph.nodes[i].op->traits().weights == WeightKind::none) continue;
    const Shape shape = shape_of(plan, i, false);
    std::vector<Way> ways = {by_primitives(shape)};
    if (bf16) ways.push_back(by_primitives(shape_of(plan, i, true)));
    if (shape.groups == 1) {
      ways.push_back([products = std::make_shared<Products>(shape, threads)] { products->run(); });
    }
    layers_.push_back(ways[fastest(ways)]);
  }
}

void Limit::step() const {
  for (const Way& layer : layers_) layer();
}

}  // namespace feedrate::testing
