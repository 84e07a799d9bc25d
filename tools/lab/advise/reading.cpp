#include "tools/lab/advise/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "formats/io/late_bytes.h"
#include "formats/remote/cache.h"
#include "formats/remote/settings.h"
#include "formats/remote/stand_in.h"
#include "tools/console/text.h"
#include "tools/lab/advise/served_files.h"

namespace feedrate::tools {
using namespace formats;

namespace {

constexpr std::uint64_t block_bytes = CachedObject::block_bytes;

/// What the consumer takes, or what the threads would give that never wait for the server.
double wanted_of(const Variant& present, const Consumer& consumer) {
  const Supply& most = present.at_max;
  const double worked = most.decode + most.augment;
  const double ready = worked > 0 ? std::max(1U, most.threads) / worked : most.rate();
  return std::min(consumer.demand, std::max(ready, most.rate()));
}

struct Block {
  std::shared_ptr<LateBytes> file;
  Bytes part;
};

/// Of all files that did not come as a whole, in a random order. A file's last, shorter one is left out.
std::vector<Block> blocks_of(const Dataset& dataset) {
  std::vector<Block> blocks;
  for (const auto& late : served_files(dataset)) {
    if (late->has(late->map())) continue;
    for (std::uint64_t at = 0; at + block_bytes <= late->map().size(); at += block_bytes)
      blocks.push_back({late, late->map().subspan(at, block_bytes)});
  }
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937_64(1));
  return blocks;
}

}  // namespace

Reading choose_reading(const Variant& present, const Prediction& now, const Consumer& consumer,
                       std::uint64_t images, const ByBlocks& server) {
  const double image_bytes =
      std::max(1.0, static_cast<double>(present.bytes) /
                        static_cast<double>(std::max<std::uint64_t>(1, images)));
  Reading reading{
      .wanted = wanted_of(present, consumer), .full = now.delivered, .cached = server.cached};
  reading.block_images =
      static_cast<std::uint64_t>(std::ceil(static_cast<double>(block_bytes) / image_bytes));
  if (server.bytes_per_second) {
    reading.blocks = *server.bytes_per_second / image_bytes;
    reading.seconds_to_copy = static_cast<double>(present.bytes) / *server.bytes_per_second;
  }
  if (now.verdict.limit != loader::Limit::network) return reading;
  const bool enough =
      reading.blocks && *reading.blocks * (1 + loader::min_tolerance) >= reading.wanted;
  reading.way = enough || reading.cached ? Way::blocks : Way::copy;
  return reading;
}

std::string Reading::text() const {
  if (way == Way::full) {
    return "Read it where it lies, shuffled among all: the server is not the limit.";
  }
  const std::string found =
      fmt::format("One request a sample, the server gives {} of the {} images/s wanted",
                  quantity(full), quantity(wanted));
  if (cached) {
    return fmt::format(
        "{} in the first epoch, later ones come from the cache: read it with "
        "--shuffle-blocks {}, for which the first one asks for whole blocks.",
        found, block_images);
  }
  const std::string by_blocks =
      blocks ? fmt::format("; by blocks of 1 MiB it gave as many bytes as {}", quantity(*blocks))
             : "";
  if (way == Way::blocks) {
    return fmt::format("{}{}: read it with --cache-dir and --shuffle-blocks {}.", found, by_blocks,
                       block_images);
  }
  const std::string takes =
      seconds_to_copy ? fmt::format(", which takes about {}", duration_text(*seconds_to_copy)) : "";
  return fmt::format("{}{}: copy it to this machine first{}.", found, by_blocks, takes);
}

ByBlocks measure_blocks(const Dataset& dataset, double seconds) {
  const RemoteSettings& settings = remote_settings();
  if (!dataset.info().is_remote()) return {};
  if (settings.cache_dir) return {.cached = true};
  const std::vector<Block> blocks = blocks_of(dataset);
  // What is read ahead is bounded: a block beyond that would be fetched only when it is held.
  const std::size_t ahead =
      std::clamp<std::size_t>(settings.read_ahead_bytes / block_bytes / 2, 1, settings.connections);
  std::size_t asked = 0, taken = 0;
  double took = 0;
  const auto start = std::chrono::steady_clock::now();
  while (taken < blocks.size() && took < seconds) {
    for (; asked < std::min(blocks.size(), taken + ahead); ++asked)
      blocks[asked].file->ask(blocks[asked].part);
    const Held held = hold(blocks[taken++].part);
    took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  dataset.info().stand_in->let_go();
  if (taken == 0) return {};
  return {.bytes_per_second = static_cast<double>(taken * block_bytes) / took};
}

}  // namespace feedrate::tools
