// Huffman decoding of whole scans, in µs an image and cycles a symbol: ours, its tables included,
// beside libjpeg-turbo's, with the coefficients wanted and not, and of two rows at a time with an
// index. Processor times; medians of runs in turns. Coefficients that differ are an error.
//
//   bench_jpeg_huffman DIRECTORY [repeats]     JPEGs; those that are not baseline are passed over

#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "formats/base/error.h"
#include "formats/codecs/jpeg/jpeg_decompressor.h"
#include "formats/codecs/jpeg/jpeg_feeders.hpp"
#include "formats/codecs/jpeg/jpeg_huffman_block.h"
#include "formats/io/file.h"

namespace feedrate::formats {
namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A chain of additions, each of which takes a cycle.
double cycles_a_second() {
  constexpr int additions = 200'000'000;
  const double begin = processor_seconds();
  std::uint64_t sum = 0;
  for (int i = 0; i < additions; ++i) asm volatile("add $1, %0" : "+r"(sum));
  return additions / (processor_seconds() - begin);
}

enum class Wanted { yes, no, two_rows };

// How the scan of an image is decoded; null: by libjpeg-turbo.
struct Way {
  const HuffmanDecoding* how = nullptr;
  Wanted wanted = Wanted::yes;
};

struct Image {
  Buffer jpeg, entry;
};

struct Result {
  bool baseline = false;
  double seconds = 0;
  std::uint64_t sum = 0;  // of the coefficients, each times its place
  std::uint64_t symbols = 0;
};

std::uint64_t symbols_of(const JBLOCK& block) {
  std::uint64_t symbols = 1;  // the mean's
  unsigned zeros = 0;
  for (unsigned i = 1; i < DCTSIZE2; ++i) {
    if (block[natural_order[i]] == 0) {
      ++zeros;
    } else {
      symbols += 1 + zeros / 16;
      zeros = 0;
    }
  }
  return symbols + (zeros > 0 ? 1 : 0);
}

enum class Check { yes, no };

// No object here has a destructor: libjpeg may leave by longjmp.
Result decode_scan(const Image& image, Way way, Check check) {
  const Bytes jpeg = image.jpeg;
  static JBLOCK blocks[max_mcu_blocks];
  static HuffmanFeeder feeder(plain_huffman_decoding);
  JpegDecompressor& self = jpeg_decompressor_for(jpeg);
  jpeg_decompress_struct& library = *self.library;
  static Result result;
  static std::optional<JpegIndex> index;
  result = {};
  index.reset();
  if (way.wanted == Wanted::two_rows) {
    index.emplace(image.entry, *read_jpeg_index_header(image.entry));
  }
  if (setjmp(self.give_up) != 0) {
    fmt::print("{}\n", self.problem);
    std::exit(1);
  }
  jpeg_read_header(&library, TRUE);
  jpeg_start_decompress(&library);
  result.baseline = jpeg_has_multiple_scans(&library) == 0 && library.progressive_mode == 0 &&
                    library.arith_code == 0;
  if (result.baseline) {
    JBLOCKROW rows[max_mcu_blocks];
    for (std::size_t i = 0; i < max_mcu_blocks; ++i) rows[i] = blocks + i;
    const std::size_t mcus = std::size_t{library.MCUs_per_row} * library.MCU_rows_in_scan;
    const auto used = static_cast<std::size_t>(library.blocks_in_MCU);
    const double begin = processor_seconds();
    if (way.how != nullptr) {
      feeder = HuffmanFeeder(*way.how, index ? &*index : nullptr);
      start_feeding(library, feeder);
    }
    for (std::size_t mcu = 0; mcu < mcus; ++mcu) {
      if (way.wanted != Wanted::no) std::memset(blocks, 0, used * sizeof(JBLOCK));
      (*library.entropy->decode_mcu)(&library, way.wanted != Wanted::no ? rows : nullptr);
      if (check == Check::no) continue;
      for (std::size_t i = 0; i < used; ++i) result.symbols += symbols_of(blocks[i]);
      for (std::size_t i = 0; i < used * DCTSIZE2; ++i) {
        result.sum += static_cast<std::uint64_t>(blocks[i / DCTSIZE2][i % DCTSIZE2]) *
                      (mcu * used * DCTSIZE2 + i + 1);
      }
    }
    result.seconds = processor_seconds() - begin;
  }
  jpeg_abort_decompress(&library);
  return result;
}

int measure(const std::filesystem::path& directory, std::size_t repeats) {
  std::vector<Image> images;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    Image image;
    read_file(file.path(), image.jpeg);
    make_jpeg_index(image.jpeg, image.entry);
    if (!image.entry.empty()) images.push_back(std::move(image));
  }
  std::vector<std::pair<std::string, Way>> ways;
  std::uint64_t bytes = 0, symbols = 0;
  for (const auto& [wanted, suffix] : {std::pair(Wanted::yes, ""),
                                       {Wanted::two_rows, ", two rows"},
                                       {Wanted::no, ", not wanted"}}) {
    if (wanted != Wanted::two_rows) {
      ways.push_back({join("libjpeg-turbo", suffix), {nullptr, wanted}});
    }
    for (const HuffmanDecoding* how : runnable_huffman_decodings()) {
      ways.push_back({join(how->name, suffix), {how, wanted}});
    }
  }
  for (const Image& image : images) {
    const Result expected = decode_scan(image, {}, Check::yes);
    bytes += image.jpeg.size();
    symbols += expected.symbols;
    for (const auto& [name, way] : ways) {
      if (way.wanted == Wanted::no) continue;
      if (decode_scan(image, way, Check::yes).sum == expected.sum) continue;
      fmt::print("{} gives other coefficients\n", name);
      return 1;
    }
  }
  if (images.empty()) return 1;
  std::vector<std::vector<double>> times(ways.size());
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    std::vector<double> seconds(ways.size());
    for (const Image& image : images) {
      for (std::size_t i = 0; i < ways.size(); ++i) {
        seconds[i] += decode_scan(image, ways[i].second, Check::no).seconds;
      }
    }
    for (std::size_t i = 0; i < ways.size(); ++i) {
      times[i].push_back(1e6 * seconds[i] / static_cast<double>(images.size()));
    }
  }
  fmt::print("{} baseline JPEGs of {} bytes, {} symbols\n", images.size(), bytes / images.size(),
             symbols / images.size());
  const double cycles = 1e-6 * cycles_a_second() * static_cast<double>(images.size()) /
                        static_cast<double>(symbols);  // a symbol, for each µs an image
  double libjpeg = 0;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    std::ranges::sort(times[i]);
    const double median = times[i][repeats / 2];
    if (ways[i].second.how == nullptr) libjpeg = median;
    fmt::print("{:<26} {:>7.1f} µs an image   {:>5.1f} cycles a symbol   {:.2f} times as fast\n",
               ways[i].first, median, cycles * median, libjpeg / median);
  }
  return 0;
}

}  // namespace
}  // namespace feedrate::formats

int main(int count, char** words) {
  if (count < 2) {
    fmt::print("usage: bench_jpeg_huffman DIRECTORY [repeats]\n");
    return 2;
  }
  const int repeats = count > 2 ? std::atoi(words[2]) : 9;
  return feedrate::formats::measure(words[1], static_cast<std::size_t>(std::max(repeats, 1)));
}
