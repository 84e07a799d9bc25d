// The part of cuDNN's graph API that we call. Every call is checked as strictly as the
// documentation allows, and more strictly where the real library would read what it was not given.

#include <cudnn.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>

#include "cudnn_convolution.h"
#include "queue.h"

namespace feedrate::emulation {
namespace {

std::set<const void*>& descriptors() {
  static std::set<const void*> created;
  return created;
}

constexpr int any_count = -1;

/// An attribute that must be set before its descriptor is finalized.
struct Rule {
  cudnnBackendDescriptorType_t kind;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int count;
  std::optional<cudnnBackendDescriptorType_t> part{};
};

constexpr auto tensor = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
constexpr auto window = CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR;
constexpr auto forward = CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
constexpr auto data = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
constexpr auto filters = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
constexpr auto graph = CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR;
constexpr auto heuristics = CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR;
constexpr auto config = CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
constexpr auto engine = CUDNN_BACKEND_ENGINE_DESCRIPTOR;
constexpr auto knob = CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR;
constexpr auto plan = CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR;
constexpr auto pack = CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR;
constexpr auto part = CUDNN_TYPE_BACKEND_DESCRIPTOR;
constexpr auto integer = CUDNN_TYPE_INT64;

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1},
      {tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, integer, 4},
      {tensor, CUDNN_ATTR_TENSOR_STRIDES, integer, 4},
      {tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, integer, 1},
      {tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, integer, 1},
      {window, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1},
      {window, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1},
      {window, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, integer, 1},
      {window, CUDNN_ATTR_CONVOLUTION_DILATIONS, integer, 2},
      {window, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, integer, 2},
      {window, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, integer, 2},
      {window, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, integer, 2},
      {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, part, 1, tensor},
      {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, part, 1, tensor},
      {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, part, 1, tensor},
      {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, part, 1, window},
      {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1},
      {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1},
      {data, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, part, 1, tensor},
      {data, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, part, 1, tensor},
      {data, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, part, 1, tensor},
      {data, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, part, 1, window},
      {data, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_TYPE_FLOAT, 1},
      {data, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_TYPE_FLOAT, 1},
      {filters, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, part, 1, tensor},
      {filters, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, part, 1, tensor},
      {filters, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, part, 1, tensor},
      {filters, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, part, 1, window},
      {filters, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_TYPE_FLOAT, 1},
      {filters, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, CUDNN_TYPE_FLOAT, 1},
      {graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, part, 1},
      {graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1},
      {heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, part, 1, graph},
      {heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1},
      {plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1},
      {plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, part, 1, config},
      {pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, integer, any_count},
      {pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, any_count},
      {pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1},
  };
  return all;
}

std::size_t bytes_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    default:
      return 4;  // enumerators and float
  }
}

bool is_operation(cudnnBackendDescriptorType_t kind) {
  return kind == forward || kind == data || kind == filters;
}

cudnnStatus_t check_part(const void* handle, std::optional<cudnnBackendDescriptorType_t> kind) {
  if (!alive(handle)) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  const auto& found = *static_cast<const Descriptor*>(handle);
  if (!found.finalized) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  if (kind ? found.kind != *kind : !is_operation(found.kind)) {
    return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_tensor(const Descriptor& from) {
  const auto type = from.one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  const auto alignment = from.one<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  const bool known =
      type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
  if (!known || alignment < 4 || (alignment & (alignment - 1)) != 0) return CUDNN_STATUS_BAD_PARAM;
  for (const auto name : {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_ATTR_TENSOR_STRIDES}) {
    for (const std::int64_t value : from.all<std::int64_t>(name)) {
      if (value < 1) return CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND;
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_window(const Descriptor& from) {
  const auto pair = [&](cudnnBackendAttributeName_t name) { return from.all<std::int64_t>(name); };
  const auto pads = pair(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  const auto strides = pair(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  const bool square = pads == pair(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS) && pads[0] == pads[1] &&
                      strides[0] == strides[1];
  const bool usual = from.one<std::int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS) == 2 &&
                     pads[0] >= 0 && strides[0] >= 1 &&
                     pair(CUDNN_ATTR_CONVOLUTION_DILATIONS) == std::vector<std::int64_t>{1, 1};
  const bool sums_fp32 =
      from.one<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE) == CUDNN_DATA_FLOAT &&
      from.one<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) == CUDNN_CROSS_CORRELATION;
  return square && usual && sums_fp32 ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t check_pack(const Descriptor& from) {
  const auto uids = from.all<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = from.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  if (uids.size() != pointers.size()) return CUDNN_STATUS_BAD_PARAM;
  if (std::set(uids.begin(), uids.end()).size() != uids.size()) {
    return CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_whole(Descriptor& from) {
  if (from.kind == tensor) return check_tensor(from);
  if (from.kind == window) return check_window(from);
  if (from.kind == pack) return check_pack(from);
  if (is_operation(from.kind)) return check_operation(from);
  if (from.kind == plan) {
    from.engine = from.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).engine;
    from.graph = from.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).graph;
    return from.engine->builds ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
  }
  return CUDNN_STATUS_SUCCESS;
}

/// Copies out up to `count` values, at most as many as there is room for.
class Answer {
 public:
  Answer(std::int64_t room, std::int64_t* count, void* values)
      : room_(room), count_(count), values_(values) {}
  template <class T>
  cudnnStatus_t give(const std::vector<T>& all) const {
    *count_ = std::min(room_, static_cast<std::int64_t>(all.size()));
    std::copy_n(all.begin(), *count_, static_cast<T*>(values_));
    return CUDNN_STATUS_SUCCESS;
  }
  /// Fills descriptors that the caller has created and not used yet.
  cudnnStatus_t fill(cudnnBackendDescriptorType_t kind, std::size_t all,
                     const std::function<void(Descriptor&, std::size_t)>& fill_in) const {
    *count_ = std::min(room_, static_cast<std::int64_t>(all));
    for (std::int64_t i = 0; i < *count_; ++i) {
      const cudnnBackendDescriptor_t handle = static_cast<cudnnBackendDescriptor_t*>(values_)[i];
      if (!alive(handle)) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
      auto& made = *static_cast<Descriptor*>(handle);
      if (made.kind != kind) return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
      if (made.finalized) return CUDNN_STATUS_BAD_PARAM;
      fill_in(made, static_cast<std::size_t>(i));
      made.finalized = true;
    }
    return CUDNN_STATUS_SUCCESS;
  }

 private:
  std::int64_t room_;
  std::int64_t* count_;
  void* values_;
};

cudnnStatus_t read(const Descriptor& from, cudnnBackendAttributeName_t name,
                   cudnnBackendAttributeType_t type, const Answer& answer) {
  const auto hand_out = [&](Descriptor& made, std::size_t) {
    made.engine = from.engine;
    made.graph = from.graph;
  };
  const auto is = [&](cudnnBackendDescriptorType_t kind, cudnnBackendAttributeName_t of,
                      cudnnBackendAttributeType_t as) {
    return from.kind == kind && name == of && type == as;
  };
  if (is(config, CUDNN_ATTR_ENGINECFG_ENGINE, part)) return answer.fill(engine, 1, hand_out);
  if (is(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, part)) {
    return answer.fill(knob, from.engine->knobs.size(), [&](Descriptor& made, std::size_t i) {
      hand_out(made, i);
      made.knob = i;
    });
  }
  if (is(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, integer)) {
    return answer.give(std::vector{from.engine->number});
  }
  if (is(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE)) {
    return answer.give(from.engine->notes);
  }
  if (is(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE)) {
    return answer.give(std::vector{from.engine->knobs[from.knob].first});
  }
  if (is(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, integer)) {
    return answer.give(std::vector{from.engine->knobs[from.knob].second});
  }
  if (is(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, integer)) {
    const Descriptor& operation = from.graph->part(CUDNN_ATTR_OPERATIONGRAPH_OPS);
    return answer.give(
        std::vector{static_cast<std::int64_t>(workspace_of(*from.engine, operation))});
  }
  return CUDNN_STATUS_BAD_PARAM;
}

/// Like the real heuristics, this counts one more than it returns.
cudnnStatus_t offer(const Descriptor& from, std::int64_t room, std::int64_t* count, void* values) {
  const auto offered = engines_of(from.one<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE));
  if (room == 0) {
    *count = static_cast<std::int64_t>(offered.size()) + 1;
    return CUDNN_STATUS_SUCCESS;
  }
  return Answer(room, count, values)
      .fill(config, offered.size(), [&](Descriptor& made, std::size_t i) {
        made.engine = offered[i];
        made.graph = &from.part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
      });
}

bool whole(const Descriptor& from) {
  for (const auto& [name, attribute] : from.attributes) {
    if (attribute.type != part) continue;
    const auto* inner = from.one<cudnnBackendDescriptor_t>(name);
    if (!alive(inner) || !whole(*static_cast<const Descriptor*>(inner))) return false;
  }
  return from.graph == nullptr || (alive(from.graph) && whole(*from.graph));
}

}  // namespace

bool alive(const void* descriptor) { return descriptors().contains(descriptor); }

}  // namespace feedrate::emulation

using namespace feedrate::emulation;

extern "C" {

std::size_t cudnnGetVersion() { return CUDNN_VERSION; }
const char* cudnnGetErrorString(cudnnStatus_t) { return "emulated failure"; }
void cudnnGetLastErrorString(char* text, std::size_t) { *text = '\0'; }

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t kind,
                                           cudnnBackendDescriptor_t* descriptor) {
  const bool asked_for = kind == config || kind == engine || kind == knob;
  const auto rule = std::ranges::find(rules(), kind, &Rule::kind);
  if (!asked_for && rule == rules().end()) return CUDNN_STATUS_NOT_SUPPORTED;
  *descriptor = new Descriptor{kind};
  descriptors().insert(*descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  if (descriptors().erase(descriptor) == 0) return CUDNN_STATUS_BAD_PARAM;
  delete static_cast<Descriptor*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void* values) {
  if (!alive(descriptor) || values == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  auto& to = *static_cast<Descriptor*>(descriptor);
  if (to.finalized) return CUDNN_STATUS_BAD_PARAM;
  const auto rule = std::ranges::find_if(
      rules(), [&](const Rule& each) { return each.kind == to.kind && each.name == name; });
  if (rule == rules().end()) return CUDNN_STATUS_BAD_PARAM;
  if (rule->type != type) return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
  if (count < 1 || (rule->count != any_count && rule->count != count)) {
    return CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT;
  }
  if (type == part) {
    const auto* inner = *static_cast<const cudnnBackendDescriptor_t*>(values);
    if (const cudnnStatus_t bad = check_part(inner, rule->part)) return bad;
  }
  const auto* bytes = static_cast<const std::byte*>(values);
  to.attributes[name] = {type, {bytes, bytes + count * static_cast<std::int64_t>(bytes_of(type))}};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  if (!alive(descriptor)) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  auto& from = *static_cast<Descriptor*>(descriptor);
  if (from.finalized) return CUDNN_STATUS_BAD_PARAM;
  for (const Rule& rule : rules()) {
    if (rule.kind == from.kind && !from.attributes.contains(rule.name)) {
      return CUDNN_STATUS_BAD_PARAM;
    }
  }
  if (const cudnnStatus_t bad = check_whole(from)) return bad;
  from.finalized = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t room,
                                       std::int64_t* count, void* values) {
  if (!alive(descriptor) || count == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  const auto& from = *static_cast<const Descriptor*>(descriptor);
  if (!from.finalized) return CUDNN_STATUS_NOT_INITIALIZED;
  if (room > 0 && values == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (from.kind == heuristics) {
    const bool asks = name == CUDNN_ATTR_ENGINEHEUR_RESULTS && type == part;
    return asks ? offer(from, room, count, values) : CUDNN_STATUS_BAD_PARAM;
  }
  return read(from, name, type, Answer(room, count, values));
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan_handle,
                                  cudnnBackendDescriptor_t pack_handle) {
  for (const cudnnBackendDescriptor_t each : {plan_handle, pack_handle}) {
    const auto kind = each == plan_handle ? plan : pack;
    if (const cudnnStatus_t bad = check_part(each, kind)) return bad;
  }
  auto& running = *static_cast<Descriptor*>(plan_handle);
  const auto& buffers = *static_cast<const Descriptor*>(pack_handle);
  if (!whole(running) || running.one<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE) != handle) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  // Kernels are loaded when they first run, which cannot be recorded.
  if (!running.ready && forbidden_in_capture() != cudaSuccess) {
    return CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER;
  }
  std::map<std::int64_t, void*> at;
  const auto uids = buffers.all<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = buffers.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  for (std::size_t i = 0; i < uids.size(); ++i) at[uids[i]] = pointers[i];
  const cudnnStatus_t status =
      convolve(handle, running.graph->part(CUDNN_ATTR_OPERATIONGRAPH_OPS), *running.engine, at,
               buffers.one<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE));
  running.ready = running.ready || status == CUDNN_STATUS_SUCCESS;
  return status;
}

}  // extern "C"
