#pragma once
// cuDNN's backend descriptors in the emulation: attributes as they were set.

#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <vector>

namespace feedrate::emulation {

struct Engine;

struct Descriptor {
  struct Attribute {
    cudnnBackendAttributeType_t type;
    std::vector<std::byte> bytes;
  };
  cudnnBackendDescriptorType_t kind;
  bool finalized = false;
  std::map<cudnnBackendAttributeName_t, Attribute> attributes{};
  const Engine* engine = nullptr;     // of what heuristics hand out, and of a plan
  const Descriptor* graph = nullptr;  // which that is for
  std::size_t knob = 0;               // of a knob's choice: its number
  bool ready = false;                 // of a plan: it has run, so its kernels are loaded

  template <class T>
  std::vector<T> all(cudnnBackendAttributeName_t name) const {
    const std::vector<std::byte>& bytes = attributes.at(name).bytes;
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  template <class T>
  T one(cudnnBackendAttributeName_t name) const {
    return all<T>(name).at(0);
  }
  const Descriptor& part(cudnnBackendAttributeName_t name) const {
    return *static_cast<const Descriptor*>(one<cudnnBackendDescriptor_t>(name));
  }
};

/// Whether it was created and not destroyed since: a part must exist as long as the whole is used.
bool alive(const void* descriptor);

}  // namespace feedrate::emulation
