#include "formats/digests/digest.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>

#include "formats/base/error.h"
#include "formats/base/stop.h"
#include "formats/io/file.h"

namespace feedrate::formats {
namespace {

// Fetched once: looking up SHA-256 by name costs more than hashing an MNIST image.
const EVP_MD* algorithm() {
  // If OpenSSL could not start for want of memory, its other calls would crash.
  if (OPENSSL_init_crypto(0, nullptr) != 1) throw std::bad_alloc();
  static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  if (fetched == nullptr) throw Error("OpenSSL offers no SHA-256");
  return fetched;
}

void require(int ok) {
  if (ok != 1) throw Error("OpenSSL refused to compute a SHA-256");
}

StoredDigest big_endian(const XXH128_hash_t& hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  return std::bit_cast<StoredDigest>(canonical);
}

}  // namespace

struct Hasher::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() {
    if (context == nullptr) throw std::bad_alloc();
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  require(EVP_DigestInit_ex2(state_->context, algorithm(), nullptr));
}

Hasher::~Hasher() = default;

void Hasher::add(Bytes bytes) {
  require(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()));
}

Sha256 Hasher::finish() {
  Sha256 digest;
  unsigned size = 0;
  require(
      EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(digest.data()), &size));
  assert(size == digest.size());
  require(EVP_DigestInit_ex2(state_->context, nullptr, nullptr));  // the same algorithm again
  return digest;
}

Sha256 sha256(Bytes bytes) {
  Hasher hasher;
  hasher.add(bytes);
  return hasher.finish();
}

std::string hex(Bytes bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

Sha256 sample_digest(std::int32_t label, const ImageView& image) {
  thread_local Hasher hasher;  // saves each sample an allocation
  const std::uint32_t header[] = {static_cast<std::uint32_t>(label), image.shape.height,
                                  image.shape.width, image.shape.channels};
  hasher.add(std::as_bytes(std::span(header)));
  hasher.add(image.pixels);
  return hasher.finish();
}

StoredDigest stored_digest(std::int32_t label, Bytes bytes) {
  const auto seed = static_cast<std::uint32_t>(label);
  return big_endian(XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed));
}

StoredDigest raw_stored_digest(const Sha256& sample_digest) {
  StoredDigest half;
  std::copy_n(sample_digest.begin(), half.size(), half.begin());
  return half;
}

void DetailsDigest::add(std::uint64_t index, Bytes details) {
  if (details.empty()) return;
  const XXH128_hash_t hash = XXH3_128bits_withSeed(details.data(), details.size(), index);
  sums[0] += hash.high64;
  sums[1] += hash.low64;
}

void DetailsDigest::add(const DetailsDigest& other) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += other.sums[i];
}

std::string DetailsDigest::text() const {
  return sums == decltype(sums){} ? "" : hex(big_endian({.low64 = sums[1], .high64 = sums[0]}));
}

std::string file_hash(const std::filesystem::path& file) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       XXH3_freeState);
  if (!state) throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
  each_block(file, [&](Bytes block) {
    throw_if_stop_requested();
    XXH3_128bits_update(state.get(), block.data(), block.size());
  });
  return join("xxh128:", hex(big_endian(XXH3_128bits_digest(state.get()))));
}

std::string ordered_digest(std::span<const Sha256> samples) {
  return hex(sha256(std::as_bytes(samples)));
}

std::string ordered_digest(std::span<const StoredDigest> samples) {
  return hex(sha256(std::as_bytes(samples)));
}

std::vector<std::uint64_t> sorted_order(std::span<const Sha256> samples) {
  // The first eight bytes nearly always decide, and are kept close together: this takes half the
  // memory of a sorted copy, and is quicker than comparing the digests that the indices refer to.
  struct Entry {
    std::uint64_t start;
    std::uint64_t index;
  };
  std::vector<Entry> entries(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    entries[i] = {load_be<std::uint64_t>(samples[i].data()), i};
  }
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    if (a.start != b.start) return a.start < b.start;
    const auto order = samples[a.index] <=> samples[b.index];
    return order != 0 ? order < 0 : a.index < b.index;
  });
  std::vector<std::uint64_t> order(samples.size());
  std::transform(entries.begin(), entries.end(), order.begin(),
                 [](const Entry& entry) { return entry.index; });
  return order;
}

DatasetDigest dataset_digest(std::span<const Sha256> samples) {
  DatasetDigest result;
  result.digest = ordered_digest(samples);
  Hasher sorted;
  for (const std::uint64_t index : sorted_order(samples)) sorted.add(samples[index]);
  result.set_digest = hex(sorted.finish());
  return result;
}

}  // namespace feedrate::formats
