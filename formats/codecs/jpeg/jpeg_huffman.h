#pragma once
// Reads the Huffman codes of a baseline JPEG's scan, faster than libjpeg-turbo. It reads sound
// scans only: wherever libjpeg would warn or correct (invalid codes, too many coefficients, data
// that ends early, markers out of order), it stops, so that the caller lets libjpeg decide.

#include <span>
#include <string_view>

#include "formats/codecs/jpeg/jpeg_huffman_tables.h"
#include "formats/codecs/jpeg/jpeg_scan.h"
#include "formats/codecs/jpeg/jpeg_scan_bytes.h"

namespace feedrate::formats {

/// The standard's limits.
inline constexpr std::size_t max_huffman_components = 4;
inline constexpr std::size_t max_huffman_tables = 4;  // of each kind

/// The bits that come next, the first one highest. Those behind `count` are valid, too, but counted
/// among the bytes from `next` on.
struct ScanBits {
  const std::byte* next = nullptr;
  std::uint64_t bits = 0;
  unsigned count = 0;
};

/// A block of an MCU: which tables it uses, and where its component's last DC coefficient is kept.
struct HuffmanBlock {
  const DcTable* dc = nullptr;
  const AcTable* ac = nullptr;
  int* mean = nullptr;
};

/// A run of MCUs that is decoded in turns with another run.
struct HuffmanRun {
  std::span<const HuffmanBlock> mcu;
  ScanBits bits;
  std::int16_t* to = nullptr;       // 64 zeros for each block, in the order of the scan
  std::size_t mcus = 0;             // to be read, at least 1
  const std::byte* last = nullptr;  // no MCU begins behind it
};

/// How to decode, in the instructions of some CPUs.
struct HuffmanDecoding {
  std::string_view name;
  /// Reads an MCU. Its coefficients go to `to`, 64 zeros for each block, in natural order. False
  /// where the codes are not sound; what is in `to` then has no meaning.
  bool (*read)(std::span<const HuffmanBlock> mcu, ScanBits& bits, std::int16_t* const* to);
  /// Reads an MCU without storing its coefficients.
  bool (*skip)(std::span<const HuffmanBlock> mcu, ScanBits& bits);
  /// Reads MCUs of two runs in turns, until one run has none left or its next MCU would begin behind
  /// `last`. Both runs then stand behind an MCU. False where the codes of one are not sound.
  bool (*read_two)(HuffmanRun& one, HuffmanRun& other);
};

/// Plain C++ for any CPU.
extern const HuffmanDecoding plain_huffman_decoding;
/// Needs AVX2 and BMI2: Haswell, Zen and later.
extern const HuffmanDecoding avx2_huffman_decoding;
/// The decodings that this CPU can run, the fastest first.
std::span<const HuffmanDecoding* const> runnable_huffman_decodings();

/// The headers of a scan, as far as its decoding needs them.
struct HuffmanScanHeader {
  std::array<HuffmanSpec, max_huffman_tables> dc{}, ac{};  // empty where not used
  struct Component {
    std::size_t blocks = 0;  // in an MCU
    std::size_t dc = 0, ac = 0;
  };
  std::array<Component, max_huffman_components> components{};
  std::size_t used_components = 0;
  std::size_t restart = 0;  // MCUs between restart markers; 0: there are none
};

/// Where an MCU begins, behind a restart marker in front of it.
struct ScanPoint {
  std::size_t mcu = 0;                              // in the order of the scan
  std::uint64_t bit = 0;                            // of the raw bytes: stuffing and markers count
  std::array<int, max_huffman_components> means{};  // that its DC coefficients are added to

  bool operator==(const ScanPoint&) const = default;
};

/// MCUs in the order of the scan.
struct ScanRun {
  ScanPoint from;         // at or before the first
  std::uint64_t end = 0;  // of the raw bytes, a bit that they do not reach beyond
  std::size_t first = 0, mcus = 0;
  std::int16_t* to = nullptr;  // 64 zeros for each of their blocks
};

/// Reads the MCUs of a scan one after the other, from its beginning or from any point on.
class HuffmanStream {
 public:
  /// Reads the next MCU, as HuffmanDecoding does; skips it where `to` is null. Call it at most
  /// once for each MCU of the layout, and no more once it was false.
  bool read(std::int16_t* const* to);
  /// After the last MCU: what follows it, from a marker on. Nothing where libjpeg might warn.
  Bytes rest() const;
  /// Whether only padding (00 and FF) lies between the last code and the marker behind it.
  bool is_padded() const;

  /// Reads the restart marker in front of the next MCU, if there has to be one. False where read()
  /// would be.
  bool enter();
  /// Where the next MCU begins: `bits` bits (stuffing not counted) behind `from`, which is the
  /// beginning of the scan, the end of a restart marker or a point. Call it after enter().
  struct Place {
    const std::byte* from = nullptr;
    std::uint64_t bits = 0;
  };
  Place place() const { return {from_, segment_bits()}; }
  const std::array<int, max_huffman_components>& means() const { return means_; }

 private:
  friend class HuffmanScan;  // which has two of them

  void begin(const HuffmanDecoding& how, std::size_t restart, Bytes raw);
  void add_block(const DcTable& dc, const AcTable& ac, std::size_t component);
  std::size_t blocks() const { return blocks_used_; }
  const HuffmanDecoding& how() const { return *how_; }
  std::uint64_t bytes_read() const { return (bits_before_ + segment_bits()) / 8; }

  /// Goes to the run's first MCU. False as for read(); a wrong point may as well give wrong
  /// coefficients.
  bool begin_run(const ScanRun& run);
  std::size_t left() const { return left_; }  // MCUs of the run
  /// What read_two() may read of the run; take_back() follows. False as for read().
  bool lend(HuffmanRun& lent);
  bool take_back(const HuffmanRun& lent);
  bool finish_run();

  void start(Bytes raw);
  bool seek(const ScanPoint& point, std::uint64_t end);
  bool restart();
  bool prepare();
  std::uint64_t segment_bits() const { return 8 * bytes_.offset(bits_.next) - bits_.count; }
  bool overran() const;

  const HuffmanDecoding* how_ = nullptr;
  std::array<HuffmanBlock, max_mcu_blocks> blocks_;
  std::array<int, max_huffman_components> means_{};
  std::size_t blocks_used_ = 0;
  std::size_t interval_ = 0, until_restart_ = 0;
  unsigned next_restart_ = 0;
  Bytes raw_;
  const std::byte* from_ = nullptr;
  unsigned first_bit_ = 0;         // of the byte at from_
  std::uint64_t bits_before_ = 0;  // bits read in front of from_
  ScanBits bits_;
  ScanBytes bytes_;
  std::int16_t* to_ = nullptr;  // of the run
  std::size_t left_ = 0;
};

/// A scan of all components: a stream that begins at its first MCU, and one for a second run beside
/// it. Reusable for any number of scans; about 70 KiB.
class HuffmanScan : public HuffmanStream {
 public:
  /// `raw` begins behind the header of the scan and ends with the file. False where it is none to
  /// be read here.
  bool begin(const HuffmanDecoding& how, const HuffmanScanHeader& header, Bytes raw);
  /// Reads one run or two, wherever they are. False as for read(), after which nothing is to be read.
  bool read_runs(std::span<const ScanRun> runs);

  std::size_t components() const { return components_; }
  /// Bytes read so far, without stuffing.
  std::uint64_t bytes_read() const { return HuffmanStream::bytes_read() + other_.bytes_read(); }

 private:
  HuffmanStream other_;
  std::array<DcTable, max_huffman_tables> dc_;
  std::array<AcTable, max_huffman_tables> ac_;
  std::array<HuffmanSpec, max_huffman_tables> dc_spec_{}, ac_spec_{};  // of the tables above
  std::size_t components_ = 0;
};

}  // namespace feedrate::formats
