#pragma once
// The parts of the harnesses of tests/fuzz. A harness gives bytes to one parser and checks what
// must hold for any input. An Error is the expected refusal; a crash, another exception, a hang or
// an allocation of a gigabyte is a bug.
//
// Each harness defines LLVMFuzzerTestOneInput, which libFuzzer calls, and seeds(). If its format
// has checksums, it also fixes them after a mutation, or no mutation would get past them.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/error.h"

namespace feedrate::fuzz {
using namespace formats;

/// Small valid inputs to start from, made by our own writers or by hand. Each must be accepted.
std::vector<Buffer> seeds();

/// Reports the broken invariant, keeps the input and ends the process.
[[noreturn]] void broken(std::string_view invariant);
inline void require(bool holds, std::string_view invariant) {
  if (!holds) broken(invariant);
}

/// How often accepts() returned true in this process.
inline std::uint64_t acceptances = 0;

/// Who accepts or refuses: our code, whose branches the engine sees, or a library that is not
/// instrumented.
enum class Decides { us, a_library };

/// Reports a library's error message to the engine, in place of the branches that led to it.
void complained(std::string_view message);

/// True when `parse` accepts the input, false when it throws an Error with a message.
template <class Parse>
bool accepts(const Parse& parse, Decides decides = Decides::us) {
  try {
    parse();
  } catch (const Error& error) {
    require(*error.what() != '\0', "an Error says what is wrong");
    if (decides == Decides::a_library) complained(error.what());
    return false;
  }
  ++acceptances;
  return true;
}

/// The same bytes at the very end of readable memory, so that even a library without sanitizers
/// crashes when it reads past them. Valid until the next call.
Bytes fenced(const std::uint8_t* data, std::size_t size);

/// A directory of this process in memory, initially empty and removed at exit.
const std::filesystem::path& directory();
/// Writes the bytes to a new file in directory() and returns its path.
std::filesystem::path file_of(Bytes bytes, std::string_view name);

inline bool same(Bytes a, Bytes b) { return as_text(a) == as_text(b); }

/// True when `part` is empty or lies inside `whole`.
inline bool inside(Bytes part, Bytes whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.size() <= whole.size() &&
          static_cast<std::size_t>(part.data() - whole.data()) <= whole.size() - part.size());
}

/// An owned copy of bytes, or of text with a length ("\0\x01"sv).
inline Buffer buffer(Bytes bytes) { return {bytes.begin(), bytes.end()}; }
inline Buffer buffer(std::string_view text) { return buffer(as_bytes(text)); }
inline Buffer joined(std::initializer_list<Bytes> parts) {
  Buffer all;
  for (const Bytes part : parts) append(all, part);
  return all;
}

}  // namespace feedrate::fuzz

extern "C" {
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// The engine's own mutation, in place; returns the new size, at most `max_size`.
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
// Defined by harnesses that fix checksums.
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                    unsigned seed);
}

namespace feedrate::fuzz {

/// Mutates, and in three of four cases lets `mend(bytes)` fix the checksums.
template <class Mend>
std::size_t mutate_and_mend(std::uint8_t* data, std::size_t size, std::size_t max_size,
                            unsigned seed, const Mend& mend) {
  size = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 4 != 0) mend(MutableBytes(reinterpret_cast<std::byte*>(data), size));
  return size;
}

}  // namespace feedrate::fuzz
