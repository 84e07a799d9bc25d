#pragma once
// The tensors of DLPack 1.0, member for member as in its dlpack.h: an interface between libraries,
// which does not change within a major version.

#include <cstdint>
#include <memory>
#include <vector>

extern "C" {

struct DLPackVersion {
  std::uint32_t major, minor;
};
struct DLDevice {
  std::int32_t device_type, device_id;
};
struct DLDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in values
  std::uint64_t byte_offset;
};
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  std::uint64_t flags;
  DLTensor dl_tensor;
};
}

namespace feedrate::tools {

inline constexpr DLDataType dl_u8{1, 8, 1}, dl_i64{0, 64, 1}, dl_f32{2, 32, 1}, dl_f16{2, 16, 1};

/// Dense values from `first` on, in the memory of the CPU. Keeps `owner` until its deleter is called.
DLManagedTensorVersioned* make_tensor(const void* first, DLDataType type,
                                      std::vector<std::int64_t> dims,
                                      std::shared_ptr<const void> owner);

}  // namespace feedrate::tools
