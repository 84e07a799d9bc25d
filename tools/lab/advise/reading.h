#pragma once
// How to read a dataset that lies on a server.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/dataset.h"
#include "tools/lab/advise/prediction.h"

namespace feedrate::tools {

enum class Way : std::uint8_t {
  full,    // where it lies, shuffled among all: a request for each sample
  blocks,  // through a cache, in a shuffle that keeps blocks together: a request for each MiB
  copy,    // from this machine: the server gives too little either way
};
inline constexpr std::string_view way_words[] = {"full", "blocks", "copy"};
constexpr std::string_view name(Way way) { return way_words[static_cast<std::size_t>(way)]; }

/// The choice, in images/s, and what it was made from.
struct Reading {
  Way way = Way::full;
  double wanted = 0;  // by the consumer, or by the decoding threads where it takes any rate
  double full = 0;    // measured
  std::optional<double> blocks{};  // as the server gave blocks; nothing: not measured
  bool cached = false;             // what has been read once is kept on this machine
  std::uint64_t block_images = 0;  // for --shuffle-blocks: those of a MiB
  std::optional<double> seconds_to_copy{};

  /// A sentence or two.
  std::string text() const;
};

/// What the server gives when asked for blocks, and whether what it gave is kept.
struct ByBlocks {
  std::optional<double> bytes_per_second{};  // nothing: not measured
  bool cached = false;
};

/// The full shuffle is kept unless the network holds up the consumer: it needs no disk. Behind a cache, only the
/// first epoch is held up, and whole blocks are what it asks for. A pure function.
Reading choose_reading(const Variant& present, const Prediction& now, const Consumer& consumer,
                       std::uint64_t images, const ByBlocks& server);

/// Bytes/s of blocks of a MiB at random places of the dataset's files, as many at a time as there
/// are connections, for so many seconds. Not measured where it is not on a server, or comes from a cache.
ByBlocks measure_blocks(const formats::Dataset& dataset, double seconds);

}  // namespace feedrate::tools
