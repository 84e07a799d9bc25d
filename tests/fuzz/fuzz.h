#pragma once
// What the harnesses of tests/fuzz are made of. A harness gives bytes to one parser and checks what
// must hold whatever they are: an Error is the expected refusal, everything else that is not a
// result (a crash, another exception, a hang, a gigabyte asked for) is a fault of ours.
//
// Each defines LLVMFuzzerTestOneInput, as libFuzzer wants it, and seeds(). One whose format keeps
// checksums also mends them after every mutation, or no mutation would get past them.

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

/// Small sound inputs to begin with, made by our own writers or by hand. Each must be accepted.
std::vector<Buffer> seeds();

/// Ends the process, which keeps the input that led here.
[[noreturn]] void broken(std::string_view invariant);
inline void require(bool holds, std::string_view invariant) {
  if (!holds) broken(invariant);
}

/// How often `accepts` was true in this process.
inline std::uint64_t acceptances = 0;

/// Who decides: our code, whose branches the engine sees, or a library that is not instrumented.
enum class Decides { us, a_library };

/// Tells the engine what a library complains about, in place of the branches that it took.
void complained(std::string_view message);

/// True when `parse` takes the input, false when it refuses with an Error that says something.
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

/// The same bytes at the very end of readable memory: also a library that no sanitizer watches
/// crashes when it reads on. Valid until the next call.
Bytes fenced(const std::uint8_t* data, std::size_t size);

/// A directory of this process in memory, made empty, gone at the end.
const std::filesystem::path& directory();
/// A file of these bytes in directory().
std::filesystem::path file_of(Bytes bytes, std::string_view name);

inline bool same(Bytes a, Bytes b) { return as_text(a) == as_text(b); }

/// True when `part` is empty or lies inside `whole`.
inline bool inside(Bytes part, Bytes whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.size() <= whole.size() &&
          static_cast<std::size_t>(part.data() - whole.data()) <= whole.size() - part.size());
}

/// Bytes from text with a size, as "\0\x01"sv.
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
// The engine's own mutation, in place; returns the new size, at most `most`.
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
// Defined by harnesses that mend checksums.
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed);
}

namespace feedrate::fuzz {

/// Mutates, and three times in four lets `mend(bytes)` make the checksums right again.
template <class Mend>
std::size_t mutate_and_mend(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed,
                            const Mend& mend) {
  size = LLVMFuzzerMutate(data, size, most);
  if (seed % 4 != 0) mend(MutableBytes(reinterpret_cast<std::byte*>(data), size));
  return size;
}

}  // namespace feedrate::fuzz
