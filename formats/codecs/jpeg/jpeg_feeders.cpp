#include "formats/codecs/jpeg/jpeg_feeders.hpp"

#include <algorithm>
#include <csetjmp>
#include <memory>

namespace feedrate::formats {
namespace {

static_assert(max_mcu_blocks == D_MAX_BLOCKS_IN_MCU && max_huffman_tables == NUM_HUFF_TBLS &&
              max_huffman_components == MAX_COMPS_IN_SCAN);

// The rest of libjpeg's set-up stays.
void install(jpeg_decompress_struct& library, McuFeeder& feeder) {
  feeder.layout = {library.MCUs_per_row, library.MCU_rows_in_scan,
                   static_cast<std::size_t>(library.blocks_in_MCU)};
  feeder.last_column = feeder.layout.across - 1;
  feeder.last_row = feeder.layout.down - 1;
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
  if (!sound) {
    self.broken = true;
    give_up(*library, "its Huffman codes are not sound");
  }
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

// The coefficients of an MCU that was read ahead, or null.
const std::int16_t* find_ahead(const HuffmanFeeder& feeder, std::size_t mcu) {
  for (const RunsAhead::Run& run : feeder.ahead->runs) {
    const std::size_t at = mcu - run.first;
    if (at < run.mcus) return run.coefficients + at * feeder.layout.blocks * DCTSIZE2;
  }
  return nullptr;
}

// Reads the wanted MCUs from the next one on: to the end of its row, and those of the next row, but
// not more than there is room for.
bool read_ahead(HuffmanFeeder& feeder) {
  const std::size_t room = RunsAhead::max_blocks / feeder.layout.blocks;
  std::size_t row = feeder.row, column = feeder.column, count = 0;
  ScanRun runs[std::size(feeder.ahead->runs)];
  for (RunsAhead::Run& to : feeder.ahead->runs) {
    to.mcus = 0;
    if (row > feeder.last_row && count > 0) continue;
    ScanRun& run = runs[count++];
    run.first = to.first = row * feeder.layout.across + column;
    run.mcus = to.mcus = std::min(feeder.last_column + 1 - column, room);
    run.to = to.coefficients;
    if (!feeder.index->find(run)) return false;
    std::fill_n(to.coefficients, run.mcus * feeder.layout.blocks * DCTSIZE2, std::int16_t{0});
    feeder.mcus_read += run.first + run.mcus - run.from.mcu;
    column += run.mcus;
    if (column > feeder.last_column) {
      column = feeder.first_column;
      ++row;
    }
  }
  return feeder.scan->read_runs({runs, count});
}

boolean feed_indexed(j_decompress_ptr library, JBLOCKROW* blocks) {
  auto& self = *static_cast<HuffmanFeeder*>(library->entropy);
  if (is_wanted(self, blocks)) {
    const std::size_t mcu = self.row * self.layout.across + self.column;
    const std::int16_t* from = find_ahead(self, mcu);
    if (from == nullptr) {
      if (!read_ahead(self)) give_up(*library, "its index does not fit");
      from = find_ahead(self, mcu);
    }
    for (std::size_t i = 0; i < self.layout.blocks; ++i) {
      std::copy_n(from + i * DCTSIZE2, DCTSIZE2, *blocks[i]);
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
  struct Memory {
    HuffmanScan scan;
    RunsAhead ahead;
  };
  thread_local const auto own = std::make_unique<Memory>();
  scan = &own->scan;
  ahead = &own->ahead;
  for (RunsAhead::Run& run : ahead->runs) run.mcus = 0;
}

void keep_to_columns(const jpeg_decompress_struct& library, JDIMENSION x, JDIMENSION width,
                     McuFeeder& feeder) {
  const std::size_t mcu_width =
      std::size_t(library.min_DCT_scaled_size) *
      (library.num_components == 1 ? 1 : std::size_t(library.max_h_samp_factor));
  feeder.first_column = x / mcu_width;
  feeder.last_column = (x + width - 1) / mcu_width;
}

void keep_to_rows(const jpeg_decompress_struct& library, JDIMENSION end, McuFeeder& feeder) {
  const std::size_t sampling =
      library.num_components == 1 ? 1 : std::size_t(library.max_v_samp_factor);
  // Smooth upsampling reads the rows below.
  const std::size_t neighbours = sampling > 1 ? sampling : 0;
  const std::size_t mcu_height = std::size_t(library.min_DCT_scaled_size) * sampling;
  feeder.last_row = std::min((end - 1 + neighbours) / mcu_height, feeder.layout.down - 1);
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
  feeder.bytes_left = raw.size();
  const std::size_t mcus = feeder.layout.across * feeder.layout.down;
  const bool fits = feeder.index != nullptr && feeder.index->header().mcus == mcus &&
                    feeder.index->header().components == std::size_t(library.comps_in_scan) &&
                    feeder.index->header().scan + raw.size() == feeder.index->header().size;
  if (!fits) feeder.index = nullptr;
  feeder.decode_mcu = fits ? feed_indexed : feed_huffman;
}

// No object here has a destructor.
bool start_whole_scan(JpegDecompressor& self, HuffmanFeeder& feeder, std::size_t& bytes_left) {
  jpeg_decompress_struct& library = *self.library;
  if (setjmp(self.give_up) != 0) {
    jpeg_abort_decompress(&library);
    return false;
  }
  jpeg_read_header(&library, TRUE);
  if (jpeg_has_multiple_scans(&library) == 0) {
    jpeg_start_decompress(&library);
    require_tables(library);
    bytes_left = library.src->bytes_in_buffer;
    start_feeding(library, feeder);
  }
  jpeg_abort_decompress(&library);
  return feeder.feeding;
}

}  // namespace feedrate::formats
