#pragma once
// Errors of a sample begin with its place: file, sample number, record or key.

#include <cstdint>
#include <type_traits>

#include "formats/base/error.h"

namespace feedrate::formats {

/// What `read` returns of a place. Its Error says first where that is: "FILE: sample 7 (record 3, byte 512): …", by
/// the place's file() and text().
template <class Place, class Read>
std::invoke_result_t<const Read&, const Place&> placed(std::uint64_t index, const Place& place,
                                                       const Read& read) {
  try {
    return read(place);
  } catch (const Error& error) {
    fail(place.file(), "sample ", index, " (", place.text(), "): ", error.what());
  }
}

}  // namespace feedrate::formats
