#pragma once
// The interface between the program and a backend's plug-in, libfeedrate_<name>.so. Both are built
// from one tree by one compiler, and hand each other C++ objects. The ABI text lets the program
// refuse a plug-in of another build with a message, where it would otherwise crash.

#include <string>

#include "trainer/backends/backend.h"

namespace feedrate::trainer {

/// The version, a space, the compiler and the sizes of the types in the interface.
const std::string& backend_abi();

/// What a plug-in exports.
using AbiFunction = const char* (*)();
using BackendFunction = const Backend* (*)();
inline constexpr const char *abi_symbol = "feedrate_backend_abi",
                            *backend_symbol = "feedrate_backend";

}  // namespace feedrate::trainer

/// Of the plug-in that this file is part of.
extern "C" const feedrate::trainer::Backend* feedrate_backend();

/// Exports a backend, in one file of the plug-in.
#define FEEDRATE_BACKEND_PLUGIN(name)                                                    \
  extern "C" __attribute__((visibility("default"))) const char* feedrate_backend_abi() { \
    return feedrate::trainer::backend_abi().c_str();                                     \
  }                                                                                      \
  extern "C" __attribute__((visibility("default"))) const feedrate::trainer::Backend*    \
  feedrate_backend() {                                                                   \
    return &(name);                                                                      \
  }
