#pragma once
// The emulated CUDA device (tests/support/cuda_emulation) as tests see it: what it has
// counted, and CUDA's own functions by name.

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "tests/support/cuda_emulation/counts.h"
#include "tests/support/places.h"

namespace feedrate::testing {

inline void* emulated_symbol(const char* name) {
  static void* const library =
      dlopen(beside_this_program("libfeedrate_cuda_emulated.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == nullptr ? nullptr : dlsym(library, name);
  if (symbol == nullptr) throw std::runtime_error(std::string("no emulated ") + name);
  return symbol;
}

inline const EmulatedCounts& emulated_counts() {
  return *reinterpret_cast<EmulatedCountsEntry>(emulated_symbol(emulated_counts_name))();
}

}  // namespace feedrate::testing
