#include <csetjmp>
#include <cstdio>
#include <cstring>

// jpeglib.h needs <cstdio> before it.
#include <jpeglib.h>

#include "formats/base/error.h"
#include "formats/codecs/jpeg/jpeg.h"
#include "formats/codecs/jpeg/jpeg_decompressor.h"
#include "formats/codecs/packed/packed.h"
#include "formats/codecs/packed/packed_blocks.h"
#include "formats/codecs/packed/packed_image.h"
#include "formats/digests/fingerprint.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t max_components = 4;
constexpr int max_factor = 4;  // of sampling

// Progressive files may omit the last bits of coefficients; libjpeg then guesses those of the first
// few coefficients: 9 in version 2.1, fewer in earlier ones.
void require_last_bits(jpeg_decompress_struct& library) {
  constexpr int guessed = 10;
  if (library.progressive_mode == 0) return;
  for (int c = 0; c < library.num_components; ++c) {
    for (int i = 0; i < guessed; ++i) {
      if (library.coef_bits[c][i] != 0) {
        give_up(library, "a progressive file that stops before its last bits is not packed");
      }
    }
  }
}

// The layout of one scan of all components, whatever scans the file has.
JpegLayout layout_of(const jpeg_decompress_struct& library) {
  const auto parts = [](std::size_t whole, int part) {
    const auto size = static_cast<std::size_t>(part) * DCTSIZE;
    return (whole + size - 1) / size;
  };
  const bool grey = library.num_components == 1;
  JpegLayout layout{parts(library.image_width, grey ? 1 : library.max_h_samp_factor),
                    parts(library.image_height, grey ? 1 : library.max_v_samp_factor), 0};
  for (int i = 0; i < library.num_components; ++i) {
    const jpeg_component_info& component = library.comp_info[i];
    layout.blocks += grey ? 1
                          : static_cast<std::size_t>(component.h_samp_factor) *
                                static_cast<std::size_t>(component.v_samp_factor);
  }
  return layout;
}

void require_one_scan(jpeg_decompress_struct& library) {
  if (layout_of(library).blocks > max_mcu_blocks) {
    give_up(library, "its components do not fit into one scan, so that it is not packed");
  }
  for (int i = 0; i < library.num_components; ++i) {
    for (int j = 0; j < i; ++j) {
      if (library.comp_info[i].component_id == library.comp_info[j].component_id) {
        give_up(library, "two components have one name, so that it is not packed");
      }
    }
  }
}

// Null when libjpeg gave up. libjpeg owns the coefficients until jpeg_abort_decompress.
jvirt_barray_ptr* read_coefficients(JpegDecompressor& self) {
  if (setjmp(self.give_up) != 0) return nullptr;
  jpeg_decompress_struct& library = *self.library;
  jpeg_read_header(&library, TRUE);
  jvirt_barray_ptr* coefficients = jpeg_read_coefficients(&library);
  require_tables(library);
  require_last_bits(library);
  require_one_scan(library);
  return coefficients;
}

struct BlockRows {
  JBLOCKROW rows[max_components][max_factor] = {};  // null below the image
};

bool read_rows(JpegDecompressor& self, jvirt_barray_ptr* coefficients, std::size_t mcu_row,
               BlockRows& blocks) {
  if (setjmp(self.give_up) != 0) return false;
  jpeg_decompress_struct& library = *self.library;
  for (int c = 0; c < library.num_components; ++c) {
    const jpeg_component_info& component = library.comp_info[c];
    const int factor = library.num_components == 1 ? 1 : component.v_samp_factor;
    for (int y = 0; y < factor; ++y) {
      const auto row = static_cast<JDIMENSION>(mcu_row) * static_cast<JDIMENSION>(factor) +
                       static_cast<JDIMENSION>(y);
      blocks.rows[c][y] =
          row < component.height_in_blocks
              ? *(*library.mem->access_virt_barray)(reinterpret_cast<j_common_ptr>(&library),
                                                    coefficients[c], row, 1, FALSE)
              : nullptr;
    }
  }
  return true;
}

class Packer {
 public:
  Packer(JpegDecompressor& self, jvirt_barray_ptr* coefficients, Buffer& packed)
      : self_(self),
        library_(*self.library),
        coefficients_(coefficients),
        layout_(layout_of(library_)),
        packed_(packed) {}

  // False when libjpeg gave up.
  bool pack() {
    const std::size_t runs = runs_of_row(layout_) * layout_.down;
    packed_.assign(packed_fixed, std::byte{0});
    std::memcpy(packed_.data(), packed_magic.data(), packed_magic.size());
    add_head();
    set(packed_magic.size() + 8, static_cast<std::uint32_t>(packed_.size() - packed_fixed));
    set(packed_magic.size() + 12, static_cast<std::uint32_t>(runs));
    index_at_ = packed_.size();
    packed_.resize(index_at_ + runs * packed_entry);
    data_at_ = packed_.size();
    for (std::size_t row = 0; row < layout_.down; ++row) {
      BlockRows blocks;
      if (!read_rows(self_, coefficients_, row, blocks)) return false;
      add_row(blocks);
    }
    constexpr std::size_t summed = packed_magic.size() + 8;
    set(packed_magic.size(), fingerprint(Bytes(packed_).first(data_at_).subspan(summed)));
    return true;
  }

 private:
  template <class T>
  void set(std::size_t at, T value) {
    std::memcpy(packed_.data() + at, &value, sizeof value);
  }

  void add(std::initializer_list<int> bytes) {
    for (const int byte : bytes) packed_.push_back(static_cast<std::byte>(byte));
  }

  // libjpeg derives the colour space from markers and component names: all are kept.
  void add_head() {
    add({0xff, 0xd8});
    if (library_.saw_JFIF_marker != 0) {
      add({0xff, 0xe0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0});
    }
    if (library_.saw_Adobe_marker != 0) {
      add({0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0});
      add({library_.Adobe_transform});
    }
    for (int i = 0; i < library_.num_components; ++i) {
      if (table_of(i) == i) add_table(i);
    }
    add_frame();
    add({0xff, 0xda, 0, 6 + 2 * library_.num_components, library_.num_components});
    for (int i = 0; i < library_.num_components; ++i) add({library_.comp_info[i].component_id, 0});
    add({0, 63, 0});
  }

  // The first component with the same quantisation table.
  int table_of(int component) const {
    const auto values = [&](int i) { return library_.comp_info[i].quant_table->quantval; };
    int i = 0;
    while (!std::equal(values(component), values(component) + DCTSIZE2, values(i))) ++i;
    return i;
  }

  void add_table(int number) {
    const UINT16* values = library_.comp_info[number].quant_table->quantval;
    const bool wide = *std::max_element(values, values + DCTSIZE2) > 255;
    add({0xff, 0xdb, 0, wide ? 131 : 67, (wide ? 16 : 0) + number});
    for (const std::uint8_t i : zigzag) {
      if (wide) add({values[i] >> 8});
      add({values[i] & 255});
    }
  }

  void add_frame() {
    const auto height = static_cast<int>(library_.image_height);
    const auto width = static_cast<int>(library_.image_width);
    add({0xff, 0xc0, 0, 8 + 3 * library_.num_components, 8, height >> 8, height & 255, width >> 8,
         width & 255, library_.num_components});
    for (int i = 0; i < library_.num_components; ++i) {
      const jpeg_component_info& component = library_.comp_info[i];
      add({component.component_id, component.h_samp_factor << 4 | component.v_samp_factor,
           table_of(i)});
    }
  }

  void add_row(const BlockRows& blocks) {
    for (std::size_t first = 0; first < layout_.across; first += packed_run) {
      const std::size_t begin = packed_.size();
      const std::size_t end = std::min(first + packed_run, layout_.across);
      for (std::size_t column = first; column < end; ++column) add_mcu(blocks, column);
      if (packed_.size() - data_at_ > UINT32_MAX) throw Error("JPEG is too large to be packed");
      set(index_at_, static_cast<std::uint32_t>(packed_.size() - data_at_));
      set(index_at_ + 4, run_sum(Bytes(packed_).subspan(begin)));
      index_at_ += packed_entry;
    }
  }

  void add_mcu(const BlockRows& blocks, std::size_t mcu_column) {
    static constexpr std::int16_t zeros[DCTSIZE2] = {};
    const bool grey = library_.num_components == 1;
    for (int c = 0; c < library_.num_components; ++c) {
      const jpeg_component_info& component = library_.comp_info[c];
      const auto across = grey ? 1 : static_cast<std::size_t>(component.h_samp_factor);
      for (int y = 0; y < (grey ? 1 : component.v_samp_factor); ++y) {
        const JBLOCKROW row = blocks.rows[c][y];
        for (std::size_t x = mcu_column * across; x < (mcu_column + 1) * across; ++x) {
          pack_block(row != nullptr && x < component.width_in_blocks ? row[x] : zeros, packed_);
        }
      }
    }
  }

  JpegDecompressor& self_;
  jpeg_decompress_struct& library_;
  jvirt_barray_ptr* coefficients_;
  JpegLayout layout_;
  Buffer& packed_;
  std::size_t index_at_ = 0;  // of the next run
  std::size_t data_at_ = 0;
};

struct Aborting {
  jpeg_decompress_struct* library;
  ~Aborting() { jpeg_abort_decompress(library); }
};

}  // namespace

void pack_jpeg(Bytes jpeg, Buffer& packed) {
  jpeg_header(jpeg);  // for its checks
  JpegDecompressor& self = jpeg_decompressor_for(jpeg);
  const Aborting at_the_end{self.library};
  jvirt_barray_ptr* coefficients = read_coefficients(self);
  if (coefficients == nullptr && self.ended) {
    const Error damage = jpeg_damage(self, jpeg);
    jpeg_abort_decompress(self.library);
    if (!lacks_only_its_end(jpeg)) throw damage;
    coefficients = read_coefficients(jpeg_decompressor_for(jpeg, JpegEnd::end_of_image));
  }
  if (coefficients == nullptr || !Packer(self, coefficients, packed).pack()) {
    jpeg_is_damaged(self, jpeg);
  }
}

}  // namespace feedrate::formats
