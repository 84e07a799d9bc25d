#include "trainer/backends/cuda/products/conv_graph.cuh"

#include <algorithm>
#include <utility>

#include "formats/base/error.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

/// The identifiers of an execution's buffers.
enum Uid : std::int64_t { x_uid = 1, filter_uid, y_uid };

using Sides = std::array<std::int64_t, 4>;  // NCHW or KCRS, whatever the order in memory

Sides x_sides(const ConvShape& shape) {
  return {shape.images, shape.in.channels, shape.in.height, shape.in.width};
}
Sides filter_sides(const ConvShape& shape) {
  return {shape.out.channels, shape.in.channels / shape.groups, shape.kernel, shape.kernel};
}
Sides y_sides(const ConvShape& shape) {
  return {shape.images, shape.out.channels, shape.out.height, shape.out.width};
}

std::size_t bytes_of(const Sides& sides, ValueType type) {
  std::size_t bytes = bytes_of(type);
  for (const std::int64_t side : sides) bytes *= static_cast<std::size_t>(side);
  return bytes;
}

/// The strides; `pixel`: from one pixel to the next, 0 for a whole tensor.
Sides interleaved(const Sides& sides, std::int64_t pixel) {
  const auto [n, c, h, w] = sides;
  const std::int64_t step = pixel == 0 ? c : pixel;
  return {h * w * step, 1, w * step, step};
}

GraphDescriptor tensor(const Sides& sides, ValueType type, Uid uid, std::int64_t pixel = 0) {
  GraphDescriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  made.set<cudnnDataType_t>(
      CUDNN_ATTR_TENSOR_DATA_TYPE,
      {with_type(type, [](auto value) { return cudnn_type<decltype(value)>; })});
  made.set<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS, sides);
  made.set<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES, interleaved(sides, pixel));
  made.set<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, {uid});
  made.set<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {tensor_alignment});
  made.finalize();
  return made;
}

GraphDescriptor window(const ConvShape& shape) {
  GraphDescriptor made(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  made.set<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, {CUDNN_DATA_FLOAT});
  made.set<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE, {CUDNN_CROSS_CORRELATION});
  made.set<std::int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2});
  made.set<std::int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS, {1, 1});
  made.set<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {shape.stride, shape.stride});
  made.set<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {shape.pad, shape.pad});
  made.set<std::int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {shape.pad, shape.pad});
  made.finalize();
  return made;
}

/// cuDNN has a set of names for each direction.
struct OperationNames {
  const char* name;
  cudnnBackendDescriptorType_t kind;
  cudnnBackendAttributeName_t x, filter, y, convolution, alpha, beta;
};

const OperationNames& names_of(ConvDirection direction) {
  static constexpr std::array<OperationNames, 3> names = {
      {{"convolution", CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
       {"gradient of a convolution's input",
        CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
       {"gradient of a convolution's filters",
        CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}}};
  return names[static_cast<std::size_t>(direction)];
}

}  // namespace

const char* name_of(ConvDirection direction) { return names_of(direction).name; }

std::size_t ConvShape::x_bytes() const {
  Sides sides = x_sides(*this);
  sides[1] = std::max(sides[1], x_pixel);
  return bytes_of(sides, type);
}
std::size_t ConvShape::filter_bytes() const { return bytes_of(filter_sides(*this), type); }
std::size_t ConvShape::y_bytes() const {
  Sides sides = y_sides(*this);
  sides[1] = std::max(sides[1], y_pixel);
  return bytes_of(sides, type);
}

ConvShape shape_of(const Node& node, const StoredExtent& stored, std::int64_t images,
                   ValueType type) {
  const Attributes& attributes = node.attributes;
  return {.type = type,
          .images = images,
          .in = stored.extent,
          .out = node.extent,
          .kernel = blocks_of(attributes.integer("kernel"), stored.block),
          .stride = attributes.integer("stride") / stored.block,
          .pad = stored.block > 1 ? 0 : attributes.integer("pad"),
          .groups = groups_of(attributes)};
}

bool splits_filters(const ConvShape& shape) {
  const auto aligned = [&](std::int64_t channels) {
    return channels / shape.groups * static_cast<std::int64_t>(bytes_of(shape.type)) %
               tensor_alignment ==
           0;
  };
  return shape.groups > 1 && is_narrow(shape.type) && aligned(shape.in.channels) &&
         aligned(shape.out.channels);
}

ConvShape group_of(const ConvShape& shape) {
  ConvShape group = shape;
  group.in.channels /= shape.groups;
  group.out.channels /= shape.groups;
  group.groups = 1;
  group.x_pixel = shape.in.channels;
  group.y_pixel = shape.out.channels;
  return group;
}

bool can_split(const ConvShape& shape, ConvDirection direction, std::int64_t parts) {
  if (parts == 1) return true;
  if (parts < 1 || parts > max_conv_parts || shape.images % parts != 0) return false;
  if (direction == ConvDirection::filters && is_narrow(shape.type)) return false;
  const ConvShape part = part_of(shape, parts);
  return part.x_bytes() % tensor_alignment == 0 && part.y_bytes() % tensor_alignment == 0;
}

ConvShape part_of(const ConvShape& shape, std::int64_t parts) {
  ConvShape part = shape;
  part.images /= parts;
  return part;
}

std::string text_of(const ConvShape& shape) {
  const auto sides = [](const Sides& of) {
    return join(of[0], "x", of[1], "x", of[2], "x", of[3]);
  };
  constexpr std::array types = {"fp32", "bf16", "fp16"};
  return join(types[static_cast<std::size_t>(shape.type)], " x ", sides(x_sides(shape)),
              " filters ", sides(filter_sides(shape)), " y ", sides(y_sides(shape)), " stride ",
              shape.stride, " pad ", shape.pad, " groups ", shape.groups,
              shape.x_pixel == 0 ? "" : join(" of ", shape.x_pixel, " and ", shape.y_pixel));
}

ConvGraph::ConvGraph(cudnnHandle_t cudnn, const ConvShape& shape, ConvDirection direction)
    : x_(tensor(x_sides(shape), shape.type, x_uid, shape.x_pixel)),
      filter_(tensor(filter_sides(shape), shape.type, filter_uid)),
      y_(tensor(y_sides(shape), shape.type, y_uid, shape.y_pixel)),
      convolution_(window(shape)),
      operation_(names_of(direction).kind),
      graph_(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {
  const OperationNames& names = names_of(direction);
  operation_.set_part(names.x, x_);
  operation_.set_part(names.filter, filter_);
  operation_.set_part(names.y, y_);
  operation_.set_part(names.convolution, convolution_);
  operation_.set<float>(names.alpha, {1});
  operation_.set<float>(names.beta, {0});
  operation_.finalize();
  graph_.set_part(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation_);
  graph_.set<cudnnHandle_t>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, {cudnn});
  graph_.finalize();
}

ConvExecution::ConvExecution(cudnnHandle_t cudnn, GraphDescriptor config)
    : config_(std::move(config)), execution_(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
  execution_.set<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, {cudnn});
  execution_.set_part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config_);
  execution_.finalize();
  workspace_ = static_cast<std::size_t>(
      execution_.get<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
}

void ConvExecution::run(cudnnHandle_t cudnn, const ConvBuffers& buffers) {
  auto pack = std::ranges::find(packs_, buffers, &Pack::buffers);
  if (pack == packs_.end()) {
    GraphDescriptor made(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    made.set<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {x_uid, filter_uid, y_uid});
    // cuDNN takes inputs and outputs alike, as void*.
    made.set<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                    {const_cast<void*>(buffers.x), const_cast<void*>(buffers.filter),
                     const_cast<void*>(buffers.y)});
    made.set<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {buffers.workspace});
    made.finalize();
    pack = packs_.insert(pack, {buffers, std::move(made)});
  }
  check(cudnnBackendExecute(cudnn, execution_.handle(), pack->descriptor.handle()),
        "cudnnBackendExecute");
}

}  // namespace feedrate::trainer::cuda
