#pragma once
// The content digest of a dataset, which proves by SHA-256 that two datasets hold the same images.
//
//   h      = SHA-256(u32le label ‖ u32le height ‖ u32le width ‖ u32le channels ‖ pixels u8 HWC)
//   digest = SHA-256 of all h in index order;  set_digest = SHA-256 of all h, sorted

#include <array>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/pixels/image.h"

namespace feedrate::formats {

using Sha256 = std::array<std::byte, 32>;

/// Incremental SHA-256. One thread.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void add(Bytes bytes);
  Sha256 finish();  // and starts a new one

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Sha256 sha256(Bytes bytes);
std::string hex(Bytes bytes);

/// h of one sample. Any thread.
Sha256 sample_digest(std::int32_t label, const ImageView& image);

/// Digest of a sample as it is stored: finds damage and differences at the speed of memory. It does
/// not protect against forgery; the sample_digest does.
using StoredDigest = std::array<std::byte, 16>;

/// XXH3-128 of the stored bytes with the label as its seed, most significant byte first. Any
/// thread.
StoredDigest stored_digest(std::int32_t label, Bytes bytes);
/// Formats store raw pixels in different orders, so half of the sample_digest represents them.
StoredDigest raw_stored_digest(const Sha256& sample_digest);
/// The digest of what is stored beside the images (Dataset::details), in the order of the samples.
/// It is a sum, so that any thread may add any sample, and parts of a dataset may be added up.
class DetailsDigest {
 public:
  /// Empty `details` add nothing.
  void add(std::uint64_t index, Bytes details);
  void add(const DetailsDigest& other);
  /// 32 hex digits; empty if nothing was added.
  std::string text() const;

  /// The upper and the lower half of XXH3-128 with the index as its seed, each summed modulo 2^64.
  std::array<std::uint64_t, 2> sums{};
};

/// "xxh128:" and what `xxhsum -H2` prints for the file: identifies an archive as fast as it can be
/// read, while SHA-256 takes longer than a conversion that keeps its images. Any thread.
std::string file_hash(const std::filesystem::path& file);

/// SHA-256 of the digests of all samples in index order, hex.
std::string ordered_digest(std::span<const Sha256> samples);
std::string ordered_digest(std::span<const StoredDigest> samples);

struct DatasetDigest {
  std::string digest;
  std::string set_digest;
};
/// `samples` in index order.
DatasetDigest dataset_digest(std::span<const Sha256> samples);

/// The indices of `samples`, sorted by the digests they refer to; equal digests by index.
std::vector<std::uint64_t> sorted_order(std::span<const Sha256> samples);

}  // namespace feedrate::formats
