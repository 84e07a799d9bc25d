#include "formats/codecs/jpeg/jpeg_feeders.hpp"

#include <algorithm>
#include <memory>

#include "formats/codecs/jpeg/jpeg_decompressor.h"

namespace feedrate::formats {
namespace {

static_assert(max_mcu_blocks == D_MAX_BLOCKS_IN_MCU && max_huffman_tables == NUM_HUFF_TBLS &&
              max_huffman_components == MAX_COMPS_IN_SCAN);

// The rest of libjpeg's set-up stays.
void install(jpeg_decompress_struct& library, McuFeeder& feeder) {
  feeder.layout = {library.MCUs_per_row, library.MCU_rows_in_scan,
                   static_cast<std::size_t>(library.blocks_in_MCU)};
  feeder.last_column = feeder.layout.across - 1;
  feeder.feeding = true;
  library.entropy = &feeder;
}

bool is_wanted(const McuFeeder& feeder, const JBLOCKROW* blocks) {
  return blocks != nullptr && feeder.column >= feeder.first_column &&
         feeder.column <= feeder.last_column;
}

struct Blocks {
  std::int16_t* to[max_mcu_blocks];
};

Blocks blocks_of(const McuFeeder& feeder, const JBLOCKROW* blocks) {
  Blocks all;
  for (std::size_t i = 0; i < feeder.layout.blocks; ++i) all.to[i] = *blocks[i];
  return all;
}

void step(McuFeeder& feeder) {
  if (++feeder.column == feeder.layout.across) {
    feeder.column = 0;
    ++feeder.row;
  }
}

boolean feed_scan(j_decompress_ptr library, JBLOCKROW* blocks) {
  auto& self = *static_cast<ScanFeeder*>(library->entropy);
  if (is_wanted(self, blocks)) {
    self.problem = self.scan->read(self.row, self.column, blocks_of(self, blocks).to);
    if (self.problem != nullptr) give_up(*library, self.problem);
  }
  step(self);
  return TRUE;
}

boolean feed_huffman(j_decompress_ptr library, JBLOCKROW* blocks) {
  auto& self = *static_cast<HuffmanFeeder*>(library->entropy);
  const bool sound = is_wanted(self, blocks) ? self.scan->read(blocks_of(self, blocks).to)
                                             : self.scan->read(nullptr);
  if (!sound) give_up(*library, "its Huffman codes are not sound");
  ++self.mcus_read;
  step(self);
  if (self.row == self.layout.down) {
    // libjpeg looks for the end of the image from here on.
    const Bytes rest = self.scan->rest();
    if (rest.empty()) give_up(*library, "something else follows its Huffman codes");
    library->src->next_input_byte = reinterpret_cast<const JOCTET*>(rest.data());
    library->src->bytes_in_buffer = rest.size();
  }
  return TRUE;
}

// To begin at a point costs as much as to read so many MCUs.
constexpr std::size_t mcus_of_a_seek = 2;

bool read_next(HuffmanFeeder& feeder, std::int16_t* const* to) {
  ++feeder.mcus_read;
  ++feeder.next_mcu;
  return feeder.scan->read(to);
}

// Goes to an MCU at or behind the next one.
bool go_to(HuffmanFeeder& feeder, std::size_t mcu) {
  if (mcu - feeder.next_mcu >= mcus_of_a_seek) {
    const ScanPoint* point = feeder.index->point_before(mcu);
    if (point == nullptr) return false;
    if (point->mcu > feeder.next_mcu) {
      if (!feeder.scan->seek(*point)) return false;
      feeder.next_mcu = point->mcu;
    }
  }
  while (feeder.next_mcu < mcu) {
    if (!read_next(feeder, nullptr)) return false;
  }
  return true;
}

boolean feed_indexed(j_decompress_ptr library, JBLOCKROW* blocks) {
  auto& self = *static_cast<HuffmanFeeder*>(library->entropy);
  if (is_wanted(self, blocks)) {
    const std::size_t mcu = self.row * self.layout.across + self.column;
    if (!go_to(self, mcu) || !read_next(self, blocks_of(self, blocks).to)) {
      give_up(*library, "its index does not fit");
    }
  }
  step(self);
  return TRUE;
}

HuffmanSpec spec_of(const JHUFF_TBL* table) {
  HuffmanSpec spec;
  if (table == nullptr) return spec;
  std::size_t symbols = 0;
  for (std::size_t i = 1; i < spec.counts.size(); ++i) {
    spec.counts[i] = table->bits[i];
    symbols += table->bits[i];
  }
  // What lies behind them is of earlier images.
  std::copy_n(table->huffval, std::min(symbols, spec.symbols.size()), spec.symbols.begin());
  return spec;
}

HuffmanScanHeader header_of(const jpeg_decompress_struct& library) {
  HuffmanScanHeader header;
  header.restart = library.restart_interval;
  header.used_components = static_cast<std::size_t>(library.comps_in_scan);
  for (std::size_t i = 0; i < header.used_components; ++i) {
    const jpeg_component_info& component = *library.cur_comp_info[i];
    const int dc = component.dc_tbl_no, ac = component.ac_tbl_no;
    header.components[i] = {static_cast<std::size_t>(component.MCU_blocks),
                            static_cast<std::size_t>(dc), static_cast<std::size_t>(ac)};
    header.dc[static_cast<std::size_t>(dc)] = spec_of(library.dc_huff_tbl_ptrs[dc]);
    header.ac[static_cast<std::size_t>(ac)] = spec_of(library.ac_huff_tbl_ptrs[ac]);
  }
  return header;
}

}  // namespace

HuffmanFeeder::HuffmanFeeder(const HuffmanDecoding& decoding, JpegIndex* with_index)
    : McuFeeder{}, how(&decoding), index(with_index) {
  thread_local const auto own = std::make_unique<HuffmanScan>();
  scan = own.get();
}

void keep_to_columns(const jpeg_decompress_struct& library, JDIMENSION x, JDIMENSION width,
                     McuFeeder& feeder) {
  const std::size_t mcu_width =
      std::size_t(library.min_DCT_scaled_size) *
      (library.num_components == 1 ? 1 : std::size_t(library.max_h_samp_factor));
  feeder.first_column = x / mcu_width;
  feeder.last_column = (x + width - 1) / mcu_width;
}

void start_feeding(jpeg_decompress_struct& library, ScanFeeder& feeder) {
  if (jpeg_has_multiple_scans(&library) != 0 || library.progressive_mode != 0) {
    give_up(library, "its header is not that of a single scan");
  }
  feeder.decode_mcu = feed_scan;
  install(library, feeder);
  feeder.problem = feeder.scan->begin(feeder.layout);
  if (feeder.problem != nullptr) give_up(library, feeder.problem);
}

void start_feeding(jpeg_decompress_struct& library, HuffmanFeeder& feeder) {
  if (jpeg_has_multiple_scans(&library) != 0 || library.progressive_mode != 0 ||
      library.arith_code != 0) {
    return;
  }
  const Bytes raw(reinterpret_cast<const std::byte*>(library.src->next_input_byte),
                  library.src->bytes_in_buffer);
  if (!feeder.scan->begin(*feeder.how, header_of(library), raw)) return;
  install(library, feeder);
  const std::size_t mcus = feeder.layout.across * feeder.layout.down;
  const bool fits = feeder.index != nullptr && feeder.index->header().mcus == mcus &&
                    feeder.index->header().components == std::size_t(library.comps_in_scan) &&
                    feeder.index->header().scan + raw.size() == feeder.index->header().size;
  if (!fits) feeder.index = nullptr;
  feeder.decode_mcu = fits ? feed_indexed : feed_huffman;
}

}  // namespace feedrate::formats
