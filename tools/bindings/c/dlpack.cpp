#include "tools/bindings/c/dlpack.h"

#include <utility>

namespace feedrate::tools {
namespace {

constexpr DLDevice cpu{1, 0};

struct Held {
  DLManagedTensorVersioned tensor{};
  std::vector<std::int64_t> dims, strides;
  std::shared_ptr<const void> owner;
};

extern "C" void drop_tensor(DLManagedTensorVersioned* tensor) {
  delete static_cast<Held*>(tensor->manager_ctx);
}

std::vector<std::int64_t> dense(const std::vector<std::int64_t>& dims) {
  std::vector<std::int64_t> strides(dims.size(), 1);
  for (std::size_t i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

}  // namespace

DLManagedTensorVersioned* make_tensor(const void* first, DLDataType type,
                                      std::vector<std::int64_t> dims,
                                      std::shared_ptr<const void> owner) {
  auto held = std::make_unique<Held>();
  held->strides = dense(dims);
  held->dims = std::move(dims);
  held->owner = std::move(owner);
  held->tensor = {.version = {1, 0},
                  .manager_ctx = held.get(),
                  .deleter = drop_tensor,
                  .flags = 0,
                  .dl_tensor = {.data = const_cast<void*>(first),
                                .device = cpu,
                                .ndim = static_cast<std::int32_t>(held->dims.size()),
                                .dtype = type,
                                .shape = held->dims.data(),
                                .strides = held->strides.data(),
                                .byte_offset = 0}};
  return &held.release()->tensor;
}

}  // namespace feedrate::tools
