#include "formats/codecs/jpeg/jpeg_huffman.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "formats/base/processor.h"
#include "formats/codecs/jpeg/jpeg_huffman_two.h"

namespace feedrate::formats {
namespace {

constexpr auto marker_prefix = std::byte{0xff};
constexpr unsigned first_restart = 0xd0, restarts = 8;

bool is_restart(std::byte code) {
  const auto value = std::to_integer<unsigned>(code);
  return value >= first_restart && value < first_restart + restarts;
}

// A table without codes is not made: nothing can be read with it.
bool is_empty(const HuffmanSpec& spec) { return spec == HuffmanSpec(); }

// Makes those tables that differ from what they were.
template <class Table>
bool make_tables(std::span<const HuffmanSpec> wanted, std::span<HuffmanSpec> made,
                 std::span<Table> tables) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == made[i] || is_empty(wanted[i])) continue;
    made[i] = {};
    if (!tables[i].make(wanted[i])) return false;
    made[i] = wanted[i];
  }
  return true;
}

}  // namespace

const HuffmanDecoding plain_huffman_decoding = {"plain", read_mcu<OneByOne>, skip_mcu<OneByOne>,
                                                read_two_runs<OneByOne>};

std::span<const HuffmanDecoding* const> runnable_huffman_decodings() {
  static const auto runnable = [] {
    std::vector<const HuffmanDecoding*> all;
    if constexpr (built_for_x86) {
      using enum Instructions;
      if (processor_has({avx2, bmi2})) all.push_back(&avx2_huffman_decoding);
    }
    all.push_back(&plain_huffman_decoding);
    return all;
  }();
  return runnable;
}

void HuffmanStream::begin(const HuffmanDecoding& how, std::size_t restart, Bytes raw) {
  how_ = &how;
  blocks_used_ = 0;
  interval_ = until_restart_ = restart;
  next_restart_ = 0;
  means_.fill(0);
  raw_ = raw;
  start(raw);
  bits_before_ = 0;
  left_ = 0;
}

void HuffmanStream::add_block(const DcTable& dc, const AcTable& ac, std::size_t component) {
  blocks_[blocks_used_++] = {&dc, &ac, &means_[component]};
}

void HuffmanStream::start(Bytes raw) {
  from_ = raw.data();
  first_bit_ = 0;
  bytes_.start(raw);
  bits_ = {bytes_.begin()};
}

bool HuffmanStream::seek(const ScanPoint& point, std::uint64_t end) {
  // Not all of the rest, which would have to be unstuffed. Of what lies before an end without a
  // marker, ScanBytes uses not everything.
  constexpr std::size_t unused = 2 * (ScanBytes::read_ahead + 1);
  const std::uint64_t first = point.bit / 8;
  if (first >= raw_.size() || end <= point.bit) return false;
  const std::uint64_t wanted = (end - 1) / 8 + 1 - first + unused;
  bits_before_ += segment_bits();
  start(raw_.subspan(first, std::min<std::uint64_t>(wanted, raw_.size() - first)));
  first_bit_ = point.bit % 8;
  means_ = point.means;
  if (interval_ != 0) {
    next_restart_ = static_cast<unsigned>(point.mcu / interval_ % restarts);
    until_restart_ = interval_ - point.mcu % interval_;
  }
  return true;
}

bool HuffmanStream::overran() const {
  const auto beyond = bits_.next - bytes_.end();
  return beyond > 0 && 8 * static_cast<std::uint64_t>(beyond) > bits_.count;
}

bool HuffmanStream::is_padded() const {
  if (!bytes_.ended()) return false;
  const auto left = 8 * (bytes_.end() - bits_.next) + static_cast<std::ptrdiff_t>(bits_.count);
  return std::all_of(bytes_.end() - std::max<std::ptrdiff_t>(left / 8, 0), bytes_.end(),
                     [](std::byte byte) { return byte == std::byte{0} || byte == marker_prefix; });
}

bool HuffmanStream::restart() {
  Bytes rest = bytes_.rest();
  while (rest.size() > 2 && rest[1] == marker_prefix) rest = rest.subspan(1);  // fill
  if (!is_padded() || rest.size() < 2 ||
      rest[1] != static_cast<std::byte>(first_restart + next_restart_)) {
    return false;
  }
  next_restart_ = (next_restart_ + 1) % restarts;
  until_restart_ = interval_;
  means_.fill(0);
  bits_before_ += segment_bits();
  start(rest.subspan(2));
  return true;
}

bool HuffmanStream::enter() { return interval_ == 0 || until_restart_ != 0 || restart(); }

bool HuffmanStream::prepare() {
  if (!enter()) return false;
  bits_.next = bytes_.slide(bits_.next);
  if (bits_.count == 0) {  // the first MCU, or one behind a restart marker or a point
    bits_.bits = load_word(bits_.next) << first_bit_;
    bits_.next += 7;
    bits_.count = 56 - first_bit_;
  }
  return true;
}

bool HuffmanStream::read(std::int16_t* const* to) {
  if (!prepare()) return false;
  --until_restart_;
  const std::span<const HuffmanBlock> mcu(blocks_.data(), blocks_used_);
  if (!(to == nullptr ? how_->skip(mcu, bits_) : how_->read(mcu, bits_, to)) || overran()) {
    return false;
  }
  // libjpeg refuses means that 32 bits do not hold; no sound image comes near.
  return std::ranges::all_of(means_,
                             [](int mean) { return mean == static_cast<std::int16_t>(mean); });
}

bool HuffmanStream::begin_run(const ScanRun& run) {
  if (!seek(run.from, run.end)) return false;
  for (std::size_t mcu = run.from.mcu; mcu < run.first; ++mcu) {
    if (!read(nullptr)) return false;
  }
  to_ = run.to;
  left_ = run.mcus;
  return true;
}

bool HuffmanStream::lend(HuffmanRun& lent) {
  if (!prepare() || overran()) return false;
  lent.mcu = {blocks_.data(), blocks_used_};
  lent.bits = bits_;
  lent.to = to_;
  lent.mcus = interval_ == 0 ? left_ : std::min(left_, until_restart_);
  lent.last = bytes_.ended() ? bytes_.end() : bytes_.end() - ScanBytes::readable;
  return true;
}

bool HuffmanStream::take_back(const HuffmanRun& lent) {
  const std::size_t read = static_cast<std::size_t>(lent.to - to_) / (64 * blocks_used_);
  bits_ = lent.bits;
  to_ = lent.to;
  left_ -= read;
  until_restart_ -= read;
  return !overran();
}

bool HuffmanStream::finish_run() {
  for (; left_ > 0; --left_, to_ += 64 * blocks_used_) {
    std::array<std::int16_t*, max_mcu_blocks> to;
    for (std::size_t i = 0; i < blocks_used_; ++i) to[i] = to_ + 64 * i;
    if (!read(to.data())) return false;
  }
  return true;
}

Bytes HuffmanStream::rest() const {
  if (!bytes_.ended()) return {};
  Bytes rest = bytes_.rest();
  // As libjpeg looks for a marker.
  for (;;) {
    while (!rest.empty() && rest.front() != marker_prefix) rest = rest.subspan(1);
    Bytes code = rest;
    while (!code.empty() && code.front() == marker_prefix) code = code.subspan(1);
    if (code.empty()) return {};
    if (code.front() != std::byte{0}) return is_restart(code.front()) ? Bytes() : rest;
    rest = code.subspan(1);
  }
}

bool HuffmanScan::begin(const HuffmanDecoding& how, const HuffmanScanHeader& header, Bytes raw) {
  if (!make_tables<DcTable>(header.dc, dc_spec_, dc_)) return false;
  if (!make_tables<AcTable>(header.ac, ac_spec_, ac_)) return false;
  components_ = header.used_components;
  for (HuffmanStream* stream : {static_cast<HuffmanStream*>(this), &other_}) {
    stream->begin(how, header.restart, raw);
    for (std::size_t c = 0; c < header.used_components; ++c) {
      const HuffmanScanHeader::Component& component = header.components[c];
      if (is_empty(header.dc[component.dc]) || is_empty(header.ac[component.ac])) return false;
      for (std::size_t i = 0; i < component.blocks; ++i) {
        if (stream->blocks() == max_mcu_blocks) return false;
        stream->add_block(dc_[component.dc], ac_[component.ac], c);
      }
    }
  }
  return true;
}

bool HuffmanScan::read_runs(std::span<const ScanRun> runs) {
  assert(runs.size() == 1 || runs.size() == 2);
  if (!begin_run(runs[0]) || (runs.size() == 2 && !other_.begin_run(runs[1]))) return false;
  while (left() > 0 && other_.left() > 0) {
    HuffmanRun own, others;
    if (!lend(own) || !other_.lend(others) || !how().read_two(own, others) || !take_back(own) ||
        !other_.take_back(others)) {
      return false;
    }
  }
  return finish_run() && other_.finish_run();
}

}  // namespace feedrate::formats
