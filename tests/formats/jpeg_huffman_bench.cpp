// Huffman decoding of whole scans, in µs an image: ours, its tables included, beside
// libjpeg-turbo's, with the coefficients wanted and not. Processor times; medians of runs in turns.
// Coefficients that differ are an error.
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
#include "formats/io/file.h"

namespace feedrate::formats {
namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

enum class Wanted { yes, no };

// How the scan of an image is decoded; null: by libjpeg-turbo.
struct Way {
  const HuffmanDecoding* how = nullptr;
  Wanted wanted = Wanted::yes;
};

struct Result {
  bool baseline = false;
  double seconds = 0;
  std::uint64_t sum = 0;  // of the coefficients, each times its place
};

enum class Check { yes, no };

// No object here has a destructor: libjpeg may leave by longjmp.
Result decode_scan(Bytes jpeg, Way way, Check check) {
  static JBLOCK blocks[max_mcu_blocks];
  static HuffmanFeeder feeder(plain_huffman_decoding);
  JpegDecompressor& self = jpeg_decompressor_for(jpeg);
  jpeg_decompress_struct& library = *self.library;
  static Result result;
  result = {};
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
      feeder = HuffmanFeeder(*way.how);
      start_feeding(library, feeder);
    }
    for (std::size_t mcu = 0; mcu < mcus; ++mcu) {
      if (way.wanted == Wanted::yes) std::memset(blocks, 0, used * sizeof(JBLOCK));
      (*library.entropy->decode_mcu)(&library, way.wanted == Wanted::yes ? rows : nullptr);
      if (check == Check::no) continue;
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
  std::vector<Buffer> jpegs;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    Buffer jpeg;
    read_file(entry.path(), jpeg);
    if (decode_scan(jpeg, {}, Check::no).baseline) jpegs.push_back(std::move(jpeg));
  }
  std::vector<std::pair<std::string, Way>> ways;
  std::size_t bytes = 0;
  for (const Wanted wanted : {Wanted::yes, Wanted::no}) {
    const char* suffix = wanted == Wanted::yes ? "" : ", not wanted";
    ways.push_back({join("libjpeg-turbo", suffix), {nullptr, wanted}});
    for (const HuffmanDecoding* how : runnable_huffman_decodings()) {
      ways.push_back({join(how->name, suffix), {how, wanted}});
    }
  }
  for (const Buffer& jpeg : jpegs) {
    bytes += jpeg.size();
    const std::uint64_t sum = decode_scan(jpeg, {}, Check::yes).sum;
    for (const auto& [name, way] : ways) {
      if (way.wanted == Wanted::no || decode_scan(jpeg, way, Check::yes).sum == sum) continue;
      fmt::print("{} gives other coefficients\n", name);
      return 1;
    }
  }
  if (jpegs.empty()) return 1;
  std::vector<std::vector<double>> times(ways.size());
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    std::vector<double> seconds(ways.size());
    for (const Buffer& jpeg : jpegs) {
      for (std::size_t i = 0; i < ways.size(); ++i) {
        seconds[i] += decode_scan(jpeg, ways[i].second, Check::no).seconds;
      }
    }
    for (std::size_t i = 0; i < ways.size(); ++i) {
      times[i].push_back(1e6 * seconds[i] / static_cast<double>(jpegs.size()));
    }
  }
  fmt::print("{} baseline JPEGs of {} bytes\n", jpegs.size(), bytes / jpegs.size());
  double libjpeg = 0;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    std::ranges::sort(times[i]);
    const double median = times[i][repeats / 2];
    if (ways[i].second.how == nullptr) libjpeg = median;
    fmt::print("{:<26} {:>7.1f} µs an image   {:.2f} times as fast\n", ways[i].first, median,
               libjpeg / median);
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
