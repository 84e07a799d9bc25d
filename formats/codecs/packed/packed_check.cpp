#include "formats/codecs/packed/packed_check.h"

#include <algorithm>
#include <bit>

#include "formats/base/processor.h"
#include "formats/codecs/packed/packed_head.h"

namespace feedrate::formats {
namespace {

// Eight bytes, of which those from `end` on are zeros.
std::uint64_t word_at(const std::byte* at, const std::byte* end) {
  if (end - at >= 8) return load_le<std::uint64_t>(at);
  std::uint64_t word = 0;
  std::memcpy(&word, at, static_cast<std::size_t>(end - at));
  return word;
}

std::uint64_t lowest(std::uint64_t word, unsigned bits) {
  return bits == 0 ? 0 : word << (64 - bits) >> (64 - bits);
}

// How many of the first `count` nibbles at `at` are zero.
unsigned zero_nibbles(const std::byte* at, unsigned count, const std::byte* end) {
  constexpr unsigned in_word = 16;
  constexpr std::uint64_t each = 0x1111111111111111;
  unsigned zeros = 0;
  for (; count > 0; at += 8) {
    const unsigned now = std::min(count, in_word);
    std::uint64_t word = word_at(at, end);
    word |= word >> 2;
    word |= word >> 1;
    zeros += static_cast<unsigned>(std::popcount(lowest(~word & each, 4 * now)));
    count -= now;
  }
  return zeros;
}

// The end of the block at `at`; null where the bytes up to `end` hold no whole block.
const std::byte* behind_block(const std::byte* at, const std::byte* end) {
  if (at == end) return nullptr;
  const BlockHead head(*at++);
  if (!head.sound() || end - at < head.mean_bytes() + head.which_bytes()) return nullptr;
  at += head.mean_bytes();
  const std::uint64_t which = lowest(word_at(at, end), 8 * head.which_bytes());
  at += head.which_bytes();
  const auto nonzero = static_cast<unsigned>(std::popcount(which));
  if (which >> 63 != 0 || end - at < (nonzero + 1) / 2) return nullptr;
  const std::ptrdiff_t follow = zero_nibbles(at, nonzero, end);
  const std::ptrdiff_t rest = (nonzero + 1) / 2 + (head.wide() ? 2 * follow : follow);
  return rest <= end - at ? at + rest : nullptr;
}

bool is_sound(const PackedRun& run) {
  const std::byte* at = run.data.data();
  const std::byte* const end = at + run.data.size();
  for (std::size_t i = 0; i < run.blocks && at != nullptr; ++i) at = behind_block(at, end);
  return at == end;
}

using AllSound = bool (*)(std::span<const PackedRun>);

// The fastest one that this CPU can run; null where there is none.
AllSound fast_check() {
  if constexpr (built_for_x86) {
    using enum Instructions;
    if (processor_has({avx2, bmi2})) return all_sound_avx2;
  }
  return nullptr;
}

}  // namespace

std::size_t first_unsound(std::span<const PackedRun> runs, const std::byte* readable_end) {
  static const AllSound all_sound = fast_check();
  for (std::size_t first = 0; first < runs.size(); first += runs_in_turn) {
    const std::span<const PackedRun> some =
        runs.subspan(first, std::min(runs_in_turn, runs.size() - first));
    const bool slack = std::ranges::all_of(some, [&](const PackedRun& run) {
      return readable_end - (run.data.data() + run.data.size()) >=
             static_cast<std::ptrdiff_t>(block_slack);
    });
    if (slack && all_sound != nullptr && all_sound(some)) continue;
    const auto unsound = std::ranges::find_if_not(some, is_sound);
    if (unsound != some.end()) return first + static_cast<std::size_t>(unsound - some.begin());
  }
  return runs.size();
}

}  // namespace feedrate::formats
