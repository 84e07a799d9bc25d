#include "formats/codecs/packed/packed_part.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <tuple>
#include <utility>

#include "formats/base/error.h"
#include "formats/codecs/jpeg/jpeg.h"
#include "formats/codecs/packed/packed_blocks.h"

namespace feedrate::formats {
namespace {

constexpr unsigned block_side = 8;
constexpr unsigned max_factor = 4;  // of sampling

constexpr std::uint32_t parts(std::uint32_t whole, std::uint32_t size) {
  return (whole + size - 1) / size;
}

// Walks a head that pack_jpeg() wrote; anything else makes it unsound.
class HeadWalk {
 public:
  explicit HeadWalk(Bytes head) : rest_(head) {}

  bool sound() const { return sound_; }
  bool at_end() const { return sound_ && rest_.empty(); }
  unsigned next() {
    if (rest_.empty()) return refuse();
    const auto byte = std::to_integer<unsigned>(rest_.front());
    rest_ = rest_.subspan(1);
    return byte;
  }
  unsigned next_two() {
    const unsigned high = next();
    return high << 8 | next();
  }
  void expect(unsigned byte) {
    if (next() != byte) refuse();
  }
  // Whether the next segment has that marker and that length and begins with `text`; if so, goes
  // behind all three.
  bool enters(unsigned marker, std::size_t length, std::string_view text = "") {
    if (rest_.size() < 4 || rest_[0] != std::byte{0xff} || rest_[1] != std::byte(marker) ||
        load_be<std::uint16_t>(rest_.data() + 2) != length ||
        !as_text(rest_.subspan(4)).starts_with(text)) {
      return false;
    }
    rest_ = rest_.subspan(4 + text.size());
    return true;
  }
  void skip(std::size_t bytes) {
    if (bytes > rest_.size()) {
      refuse();
    } else {
      rest_ = rest_.subspan(bytes);
    }
  }
  unsigned refuse() {
    sound_ = false;
    rest_ = {};
    return 0;
  }

 private:
  Bytes rest_;
  bool sound_ = true;
};

struct Tables {
  std::uint16_t values[max_jpeg_components][64] = {};
  bool given[max_jpeg_components] = {};
};

void read_table(HeadWalk& head, Tables& tables) {
  const unsigned kind = head.next();
  const unsigned number = kind & 15;
  if (kind > 0x13 || number >= max_jpeg_components) {
    head.refuse();
    return;
  }
  tables.given[number] = true;
  for (std::uint16_t& value : tables.values[number]) {
    value = static_cast<std::uint16_t>(kind >= 0x10 ? head.next_two() : head.next());
    if (value == 0) head.refuse();
  }
}

// libjpeg's rule (default_decompress_parms).
JpegColours colours_of(unsigned components, bool jfif, const std::optional<int>& adobe,
                       const unsigned* names) {
  if (components == 1) return JpegColours::grey;
  if (components == 4) return adobe.value_or(0) == 0 ? JpegColours::cmyk : JpegColours::ycck;
  if (jfif) return JpegColours::ycc;
  if (adobe) return *adobe == 0 ? JpegColours::rgb : JpegColours::ycc;
  return names[0] == 'R' && names[1] == 'G' && names[2] == 'B' ? JpegColours::rgb
                                                               : JpegColours::ycc;
}

// Sizes of components and MCUs. False where libjpeg would refuse them.
bool divide(PackedPart& image, Shape shape) {
  unsigned across = 1, down = 1, blocks = 0;
  for (unsigned c = 0; c < image.components; ++c) {
    PackedComponent& own = image.component[c];
    if (own.across - 1U >= max_factor || own.down - 1U >= max_factor) return false;
    if (image.components == 1) {
      image.rows_at_once = own.down;
      own.across = own.down = 1;  // one block is an MCU
    }
    across = std::max<unsigned>(across, own.across);
    down = std::max<unsigned>(down, own.down);
    blocks += own.across * own.down;
  }
  if (blocks > max_mcu_blocks) return false;
  for (unsigned c = 0; c < image.components; ++c) {
    PackedComponent& own = image.component[c];
    if (across % own.across != 0 || down % own.down != 0) return false;
    own.expand_across = static_cast<std::uint8_t>(across / own.across);
    own.expand_down = static_cast<std::uint8_t>(down / own.down);
    own.width = parts(shape.width, own.expand_across);
    own.height = parts(shape.height, own.expand_down);
  }
  image.across = parts(shape.width, block_side * across);
  return true;
}

std::optional<PackedPart> parse(const PackedImage& record, Shape shape) {
  const std::optional<int> adobe =
      jpeg_header(record.head, record.data_at() + record.data.size()).adobe;
  HeadWalk head(record.head);
  PackedPart image;
  Tables tables;
  head.expect(0xff);
  head.expect(0xd8);
  constexpr std::string_view jfif_name("JFIF\0", 5), adobe_name = "Adobe";
  const bool jfif = head.enters(0xe0, 16, jfif_name);
  if (jfif) head.skip(14 - jfif_name.size());
  if (head.enters(0xee, 14, adobe_name)) head.skip(12 - adobe_name.size());
  while (head.enters(0xdb, 67) || head.enters(0xdb, 131)) read_table(head, tables);
  const unsigned count = shape.channels == 1 ? 1 : head.enters(0xc0, 8 + 3 * 4) ? 4 : 3;
  if (count != 4 && !head.enters(0xc0, 8 + 3 * count)) return std::nullopt;
  head.expect(8);
  if (head.next_two() != shape.height || head.next_two() != shape.width) return std::nullopt;
  head.expect(count);
  image.components = static_cast<std::uint8_t>(count);
  unsigned names[max_jpeg_components] = {};
  for (unsigned c = 0; c < count; ++c) {
    PackedComponent& own = image.component[c];
    names[c] = head.next();
    if (std::find(names, names + c, names[c]) != names + c) return std::nullopt;
    const unsigned factors = head.next(), table = head.next();
    if (!head.sound() || table >= max_jpeg_components || !tables.given[table]) return std::nullopt;
    own.across = static_cast<std::uint8_t>(factors >> 4);
    own.down = static_cast<std::uint8_t>(factors & 15);
    std::ranges::copy(tables.values[table], own.table);
  }
  if (!head.enters(0xda, 6 + 2 * count)) return std::nullopt;
  head.expect(count);
  for (unsigned c = 0; c < count; ++c) {
    head.expect(names[c]);
    head.expect(0);
  }
  head.expect(0);
  head.expect(63);
  head.expect(0);
  if (!head.at_end() || !divide(image, shape)) return std::nullopt;
  image.colours = colours_of(count, jfif, adobe, names);
  return image;
}

// A side of an image in units of `size` pixels.
struct Units {
  std::uint32_t side, size;
  std::uint32_t neighbours = jpeg_neighbours;

  // The first unit, and the number of units, that hold [begin, begin + count) and its neighbours.
  std::pair<std::uint32_t, std::uint32_t> holding(std::uint32_t begin, std::uint32_t count) const {
    const std::uint32_t first = (begin - std::min(begin, neighbours)) / size;
    const std::uint32_t end = std::min(begin + count + neighbours, side);
    return {first, parts(end, size) - first};
  }
};

struct Extent {
  std::uint32_t begin, end;  // in the data
};

// The data of run `run`, counted through the image.
Extent extent_of(const PackedImage& record, std::size_t run) {
  const std::byte* entry = record.index.data() + run * packed_entry;
  const Extent extent{run == 0 ? 0 : load_le<std::uint32_t>(entry - packed_entry),
                      load_le<std::uint32_t>(entry)};
  if (extent.begin > extent.end || extent.end > record.data.size()) {
    throw Error(join("packed JPEG is damaged at byte ", record.data_at(),
                     ": a run of MCUs outside the data"));
  }
  return extent;
}

std::size_t run_of(const PackedPart& part, std::uint32_t row, std::uint32_t run) {
  return std::size_t{part.first_row + row} * parts(part.across, packed_run) + part.first_run + run;
}

std::size_t mcus_of(const PackedPart& part, std::uint32_t run) {
  const std::size_t before = (part.first_run + run) * packed_run;
  return std::min(packed_run, part.across - before);
}

// Runs that were copied and are not checked yet.
class CopiedRuns {
 public:
  explicit CopiedRuns(const PackedImage& record) : record_(record) {}
  void add(const PackedRun& run) {
    runs_[count_++] = run;
    if (count_ == runs_.size()) check();
  }
  void check() {
    const std::span<const PackedRun> all = std::span(runs_).first(std::exchange(count_, 0));
    const std::size_t first = first_unsound(all, record_.data.data() + record_.data.size());
    if (first == all.size()) return;
    const auto at = static_cast<std::size_t>(all[first].data.data() - record_.data.data());
    throw Error(join("packed JPEG is damaged at byte ", record_.data_at() + at,
                     ": a run of MCUs is not made of whole blocks"));
  }

 private:
  const PackedImage& record_;
  std::array<PackedRun, runs_in_turn> runs_;
  std::size_t count_ = 0;
};

std::size_t list_bytes(const PackedPart& part) {
  return (part.runs() + std::size_t{1}) * sizeof(std::uint32_t);
}

}  // namespace

unsigned PackedPart::blocks() const {
  unsigned sum = 0;
  for (unsigned c = 0; c < components; ++c) sum += component[c].across * component[c].down;
  return sum;
}

std::optional<PackedPart> packed_part(const PackedImage& record, Shape shape, const Rect& part) {
  assert(part.height > 0 && part.width > 0);
  std::optional<PackedPart> image = parse(record, shape);
  if (!image) return std::nullopt;
  const PackedComponent& first = image->component[0];
  const std::uint32_t mcu_width = block_side * first.across * first.expand_across;
  const std::uint32_t mcu_height = block_side * first.down * first.expand_down;
  const std::size_t row_runs = parts(image->across, packed_run);
  if (record.runs() != row_runs * parts(shape.height, mcu_height)) return std::nullopt;
  // libjpeg upsamples as many rows at once as a row of samples can give.
  const Units down{shape.height, mcu_height * image->rows_at_once,
                   std::max(jpeg_neighbours, mcu_height / block_side)};
  std::tie(image->first_row, image->rows) = down.holding(part.y, part.height);
  image->first_row *= image->rows_at_once;
  image->rows = std::min(image->rows * image->rows_at_once,
                         parts(shape.height, mcu_height) - image->first_row);
  const Units across{shape.width, mcu_width};
  std::tie(image->first_column, image->columns) = across.holding(part.x, part.width);
  image->first_run = image->first_column / packed_run;
  image->row_runs = parts(image->first_column + image->columns, packed_run) - image->first_run;
  return image;
}

std::size_t packed_part_bytes(const PackedImage& record, const PackedPart& part) {
  std::size_t bytes = list_bytes(part);
  for (std::uint32_t row = 0; row < part.rows; ++row) {
    const std::uint32_t begin = extent_of(record, run_of(part, row, 0)).begin;
    const std::uint32_t end = extent_of(record, run_of(part, row, part.row_runs - 1)).end;
    if (end > begin) bytes += end - begin;
  }
  return bytes;
}

std::size_t copy_packed_part(const PackedImage& record, const PackedPart& part, MutableBytes to) {
  std::byte* list = to.data();
  std::byte* const data = list + list_bytes(part);
  std::byte* at = data;
  const std::size_t blocks = part.blocks();
  const auto note = [&] {
    const auto offset = static_cast<std::uint32_t>(at - data);
    std::memcpy(list, &offset, sizeof offset);
    list += sizeof offset;
  };
  CopiedRuns copied(record);
  for (std::uint32_t row = 0; row < part.rows; ++row) {
    for (std::uint32_t i = 0; i < part.row_runs; ++i) {
      const std::size_t run = run_of(part, row, i);
      const Extent extent = extent_of(record, run);
      const Bytes bytes = record.data.subspan(extent.begin, extent.end - extent.begin);
      const std::byte* entry = record.index.data() + run * packed_entry;
      if (run_sum(bytes) != load_le<std::uint32_t>(entry + 4)) {
        throw Error(join("packed JPEG is damaged at byte ", record.data_at() + extent.begin,
                         ": the sum of a run does not match"));
      }
      note();
      // packed_part_bytes() has checked only the first and the last end of a row.
      if (bytes.size() > static_cast<std::size_t>(to.data() + to.size() - at)) {
        throw Error(join("packed JPEG is damaged at byte ", record.data_at(),
                         ": the ends of its runs are out of order"));
      }
      at = std::ranges::copy(bytes, at).out;
      copied.add({bytes, mcus_of(part, i) * blocks});
    }
  }
  copied.check();
  note();
  return static_cast<std::size_t>(at - to.data());
}

}  // namespace feedrate::formats
