#include "trainer/backends/cuda/products/graph_descriptor.cuh"

#include <algorithm>

#include "formats/base/error.h"

namespace feedrate::trainer::cuda {
using namespace formats;

GraphDescriptor::GraphDescriptor(cudnnBackendDescriptorType_t kind)
    : kind_(kind), handle_([kind] {
        cudnnBackendDescriptor_t created = nullptr;
        check(cudnnBackendCreateDescriptor(kind, &created), "cudnnBackendCreateDescriptor");
        return created;
      }()) {}

void GraphDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          std::size_t count, const void* values) {
  const cudnnStatus_t status =
      cudnnBackendSetAttribute(handle(), name, type, static_cast<std::int64_t>(count), values);
  if (status == CUDNN_STATUS_SUCCESS) return;
  check(status,
        join("attribute ", static_cast<int>(name), " of descriptor ", static_cast<int>(kind_)));
}

void GraphDescriptor::set_part(cudnnBackendAttributeName_t name, const GraphDescriptor& part) {
  const cudnnBackendDescriptor_t handle = part.handle();
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &handle);
}

void GraphDescriptor::finalize() {
  const cudnnStatus_t status = cudnnBackendFinalize(handle());
  if (status == CUDNN_STATUS_SUCCESS) return;
  check(status, join("descriptor ", static_cast<int>(kind_)));
}

std::size_t GraphDescriptor::get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                 std::size_t max_count, void* values) const {
  std::int64_t count = 0;
  const cudnnStatus_t status = cudnnBackendGetAttribute(
      handle(), name, type, static_cast<std::int64_t>(max_count), &count, values);
  if (status != CUDNN_STATUS_SUCCESS) {
    check(status,
          join("attribute ", static_cast<int>(name), " of descriptor ", static_cast<int>(kind_)));
  }
  return max_count == 0 ? static_cast<std::size_t>(count)
                        : std::min(static_cast<std::size_t>(count), max_count);
}

std::size_t GraphDescriptor::count_parts(cudnnBackendAttributeName_t name) const {
  return get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr);
}

std::vector<GraphDescriptor> GraphDescriptor::parts(cudnnBackendAttributeName_t name,
                                                    cudnnBackendDescriptorType_t kind,
                                                    std::size_t max_count) const {
  std::vector<GraphDescriptor> found;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (std::size_t i = 0; i < max_count; ++i) handles.push_back(found.emplace_back(kind).handle());
  const std::size_t count =
      max_count == 0 ? 0 : get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, max_count, handles.data());
  found.erase(found.begin() + static_cast<std::ptrdiff_t>(count), found.end());
  return found;
}

}  // namespace feedrate::trainer::cuda
