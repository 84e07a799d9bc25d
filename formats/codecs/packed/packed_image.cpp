#include "formats/codecs/packed/packed_image.h"

#include <array>

#include "formats/base/error.h"
#include "formats/codecs/packed/packed_blocks.h"
#include "formats/digests/fingerprint.h"

namespace feedrate::formats {
namespace {

const BlockUnpacking& unpacking() {
  static const BlockUnpacking& fastest = *runnable_block_unpackings().front();
  return fastest;
}

[[noreturn]] void damaged(std::size_t at, std::string_view how) {
  throw Error(join("packed JPEG is damaged at byte ", at, ": ", how));
}

}  // namespace

std::uint32_t run_sum(Bytes data) { return static_cast<std::uint32_t>(fingerprint(data)); }

PackedImage packed_image(Bytes encoded) {
  if (!as_text(encoded).starts_with(packed_magic)) {
    throw Error("not a packed JPEG: it does not start with 9E \"packed1\"");
  }
  if (encoded.size() < packed_fixed) {
    damaged(encoded.size(), join("expected ", packed_fixed, " bytes before the head: truncated?"));
  }
  const std::byte* fixed = encoded.data() + packed_magic.size();
  const auto stated = load_le<std::uint64_t>(fixed);
  const auto head = load_le<std::uint32_t>(fixed + 8);
  const auto runs = load_le<std::uint32_t>(fixed + 12);
  const std::uint64_t data_at =
      packed_fixed + std::uint64_t{head} + std::uint64_t{runs} * packed_entry;
  if (runs == 0 || data_at > encoded.size()) {
    damaged(packed_fixed, join("a head of ", head, " bytes and an index of ", runs, " runs, of ",
                               encoded.size(), " bytes: truncated?"));
  }
  constexpr std::size_t summed_from = packed_magic.size() + 8;
  const Bytes summed = encoded.first(data_at).subspan(summed_from);
  if (fingerprint(summed) != stated) {
    damaged(packed_magic.size(),
            join("the fingerprint of bytes ", summed_from, " to ", data_at - 1, " does not match"));
  }
  const PackedImage record{encoded.subspan(packed_fixed, head),
                           encoded.subspan(packed_fixed + head, runs * packed_entry),
                           encoded.subspan(data_at)};
  const auto end = load_le<std::uint32_t>(record.index.data() + record.index.size() - packed_entry);
  if (end != record.data.size()) {
    damaged(encoded.size(), join("expected ", data_at + end, " bytes, found ", encoded.size(),
                                 end > record.data.size() ? ": truncated?" : ""));
  }
  return record;
}

PackedScan::PackedScan(const PackedImage& record)
    : record_(record), next_(record.data.data()), run_end_(next_) {}

const char* PackedScan::begin(const JpegLayout& layout) noexcept {
  layout_ = layout;
  const auto needed = checked_multiply(runs_of_row(layout), layout.down);
  return needed && *needed == record_.runs() ? nullptr
                                             : "the number of runs does not match the MCUs";
}

std::size_t PackedScan::at() const noexcept {
  return record_.data_at() + static_cast<std::size_t>(next_ - record_.data.data());
}

const char* PackedScan::open_run(std::size_t run) noexcept {
  const std::byte* entry = record_.index.data() + run * packed_entry;
  const std::uint32_t begin = run == 0 ? 0 : load_le<std::uint32_t>(entry - packed_entry);
  const auto end = load_le<std::uint32_t>(entry);
  if (begin > end || end > record_.data.size()) return "a run of MCUs outside the data";
  const Bytes data = record_.data.subspan(begin, end - begin);
  next_ = data.data();
  if (run_sum(data) != load_le<std::uint32_t>(entry + 4)) return "the sum of a run does not match";
  run_ = run + 1;
  run_end_ = next_ + data.size();
  left_ = std::min(packed_run, layout_.across - run % runs_of_row(layout_) * packed_run);
  return nullptr;
}

// Reads block by block from a copy, since loads near the end would reach beyond the image.
const char* PackedScan::read_near_end(std::int16_t* const* blocks) noexcept {
  for (std::size_t i = 0; i < layout_.blocks; ++i) {
    std::array<std::byte, max_block_bytes + block_slack> copy{};
    const auto rest = static_cast<std::size_t>(run_end_ - next_);
    if (rest == 0) return "a run of MCUs ends too early";
    std::copy_n(next_, std::min(rest, copy.size()), copy.begin());
    const std::byte* end = unpacking().unpack(copy.data(), 1, blocks + i);
    if (end == nullptr) return "a block has an invalid head";
    const auto size = static_cast<std::size_t>(end - copy.data());
    if (size > rest) return "a run of MCUs ends too early";
    next_ += size;
  }
  return nullptr;
}

const char* PackedScan::read_next(std::int16_t* const* blocks) noexcept {
  const auto readable = static_cast<std::size_t>(record_.data.data() + record_.data.size() - next_);
  if (readable < layout_.blocks * max_block_bytes + block_slack) {
    if (const char* problem = read_near_end(blocks)) return problem;
  } else {
    const std::byte* end = unpacking().unpack(next_, layout_.blocks, blocks);
    if (end == nullptr) return "a block has an invalid head";
    if (end > run_end_) return "a run of MCUs ends too early";
    next_ = end;
  }
  --left_;
  return left_ == 0 && next_ != run_end_ ? "a run of MCUs has bytes behind its last one" : nullptr;
}

const char* PackedScan::read(std::size_t row, std::size_t column,
                             std::int16_t* const* blocks) noexcept {
  const std::size_t in_row = column / packed_run;
  const std::size_t run = row * runs_of_row(layout_) + in_row;
  const std::size_t size = std::min(packed_run, layout_.across - in_row * packed_run);
  if (run_ != run + 1 || column % packed_run + left_ < size) {
    if (run >= record_.runs()) return "more MCUs than it has runs";
    if (const char* problem = open_run(run)) return problem;
  }
  // Unwanted MCUs in front of the wanted one are unpacked into its place and overwritten.
  for (std::size_t ahead = column % packed_run + left_ - size; ahead > 0; --ahead) {
    if (const char* problem = read_next(blocks)) return problem;
  }
  return read_next(blocks);
}

}  // namespace feedrate::formats
