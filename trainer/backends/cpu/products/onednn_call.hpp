#pragma once
// oneDNN's primitives with arguments in our memory. Private to this folder's .cpp files.

#include <algorithm>
#include <cstddef>
#include <dnnl.hpp>
#include <memory>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/error.h"
#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/products/onednn_version.hpp"

namespace feedrate::trainer::cpu {

inline constexpr auto f32 = dnnl::memory::data_type::f32;

inline dnnl::memory::data_type onednn_type(ValueType type) {
  return type == ValueType::bf16 ? dnnl::memory::data_type::bf16 : f32;
}

/// Returns make(). Turns a failure of oneDNN into an Error that names the node.
template <class Make>
std::unique_ptr<Layer> made_by_onednn(const LayerSite& site, const Make& make) {
  try {
    return make();
  } catch (const dnnl::error& error) {
    throw formats::Error(
        formats::join("oneDNN cannot compute ", site.node().name, ": ", error.message));
  }
}

/// Bytes to reserve for a part of the scratch, so that the next part starts on a cache line.
inline std::size_t room_for(std::size_t bytes) {
  return formats::round_up(bytes, formats::cache_line);
}

inline dnnl::primitive_attr own_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

/// A primitive's argument: its memory, and the layout that the primitive wants, which is the same
/// memory or a copy in the scratch.
struct Argument {
  int name;
  dnnl::memory home;
  dnnl::memory wanted;
  dnnl::reorder before, after;  // into and out of `wanted`; empty if both are the same memory
};

/// One primitive, its arguments, and the scratch for copies and for the primitive.
class Call {
 public:
  Call() = default;
  template <class Descriptor>
  Call(const dnnl::primitive& primitive, const Descriptor& descriptor)
      : primitive_(primitive), own_scratch_(descriptor.scratchpad_desc(), engine(), nullptr) {}

  void reads(int name, const dnnl::memory::desc& home, const dnnl::memory::desc& wanted) {
    Argument& argument = add(name, home, wanted);
    if (home != wanted) argument.before = dnnl::reorder(argument.home, argument.wanted);
  }
  void writes(int name, const dnnl::memory::desc& home, const dnnl::memory::desc& wanted) {
    Argument& argument = add(name, home, wanted);
    if (home != wanted) argument.after = dnnl::reorder(argument.wanted, argument.home);
  }

  std::size_t scratch_bytes() const {
    std::size_t bytes = room_for(own_scratch_.get_desc().get_size());
    for (const Argument& argument : arguments_) bytes += copy_bytes(argument);
    return bytes;
  }

  /// `homes` are in the order in which the arguments were added.
  void bind(const std::vector<void*>& homes, std::byte* scratch) {
    own_scratch_.set_data_handle(scratch);
    scratch += room_for(own_scratch_.get_desc().get_size());
    execution_.clear();
    execution_.push_back({DNNL_ARG_SCRATCHPAD, own_scratch_.get()});
    auto home = homes.begin();
    for (Argument& argument : arguments_) {
      argument.home.set_data_handle(*home++);
      const bool copied = copy_bytes(argument) != 0;
      argument.wanted.set_data_handle(copied ? static_cast<void*>(scratch)
                                             : argument.home.get_data_handle());
      scratch += copy_bytes(argument);
      execution_.push_back({argument.name, argument.wanted.get()});
    }
  }

  void run(dnnl::stream& stream) {
    for (Argument& argument : arguments_) {
      if (argument.before) argument.before.execute(stream, argument.home, argument.wanted);
    }
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(primitive_.get(), stream.get(), static_cast<int>(execution_.size()),
                               execution_.data()),
        "oneDNN could not run a product");
    for (Argument& argument : arguments_) {
      if (argument.after) argument.after.execute(stream, argument.wanted, argument.home);
    }
    stream.wait();
  }

 private:
  Argument& add(int name, const dnnl::memory::desc& home, const dnnl::memory::desc& wanted) {
    arguments_.push_back({name,
                          dnnl::memory(home, engine(), nullptr),
                          dnnl::memory(wanted, engine(), nullptr),
                          {},
                          {}});
    return arguments_.back();
  }
  static std::size_t copy_bytes(const Argument& argument) {
    const bool copied = argument.before || argument.after;
    return copied ? room_for(argument.wanted.get_desc().get_size()) : 0;
  }

  dnnl::primitive primitive_;
  dnnl::memory own_scratch_;
  std::vector<Argument> arguments_;
  std::vector<dnnl_exec_arg_t> execution_;
};

/// Values as a factor of several products: the values themselves, or a copy in a narrower type.
class Factor {
 public:
  Factor() = default;
  Factor(const dnnl::memory::desc& home, const dnnl::memory::desc& wanted) : desc_(home) {
    if (type_of(home) == type_of(wanted)) return;
    desc_ = wanted;
    home_ = dnnl::memory(home, engine(), nullptr);
    copy_ = dnnl::memory(wanted, engine(), nullptr);
    narrow_ = dnnl::reorder(home_, copy_);
  }

  const dnnl::memory::desc& desc() const { return desc_; }
  std::size_t copy_bytes() const { return narrow_ ? room_for(desc_.get_size()) : 0; }
  /// Returns the memory that the products read.
  void* bind(const void* home, std::byte* copy) {
    void* values = const_cast<void*>(home);  // oneDNN's handles are not const
    if (!narrow_) return values;
    home_.set_data_handle(values);
    copy_.set_data_handle(copy);
    return copy;
  }
  void run(dnnl::stream& stream) {
    if (narrow_) narrow_.execute(stream, home_, copy_);
  }

 private:
  dnnl::memory::desc desc_;
  dnnl::memory home_, copy_;
  dnnl::reorder narrow_;
};

}  // namespace feedrate::trainer::cpu
