#pragma once
// The few functions and classes that a pickle of arrays names, and what comes of calling them. Each
// is imitated here; nothing is looked up by name anywhere else. Stateless; for pickle.cpp.

#include <optional>
#include <string_view>

#include "converters/cifar/pickle_value.h"

namespace feedrate::converters {

enum class PickleGlobal : std::uint8_t {
  reconstruct,  // numpy: an empty array, to be filled by BUILD
  frombuffer,   // numpy at protocol 5: an array from its bytes
  ndarray,      // named by reconstruct's callers
  dtype,
  encode  // _codecs: how Python 3 writes bytes at protocol 2
};

/// Nothing when the name is not one of ours.
std::optional<PickleGlobal> find_pickle_global(std::string_view module, std::string_view name);

/// REDUCE: `function` called with the items of the tuple `arguments`. Fills `result`; bytes that
/// stand in no input go to `owned`. Throws Error when the arguments are not those that numpy or
/// Python writes.
void call_pickle_global(PickleGlobal function, const PickleValue& arguments, PickleValue& result,
                        formats::Buffer& owned);

/// BUILD: gives `target`, an array or a dtype, the state that numpy writes for it. Throws Error
/// when the state makes no sense.
void build_pickle_value(PickleValue& target, const PickleValue& state);

}  // namespace feedrate::converters
