#include "formats/codecs/png/run_deflate.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <memory>
#include <random>

#include "formats/base/checksum.h"

namespace feedrate::formats {
namespace {

// zlib is the reference: inflates the stream and checks that all of it was used.
Buffer inflated(const Buffer& stream, std::size_t size) {
  Buffer data(size + 1);
  z_stream zlib{};
  EXPECT_EQ(inflateInit(&zlib), Z_OK);
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(stream.data()));
  zlib.avail_in = static_cast<uInt>(stream.size());
  zlib.next_out = reinterpret_cast<Bytef*>(data.data());
  zlib.avail_out = static_cast<uInt>(data.size());
  EXPECT_EQ(inflate(&zlib, Z_FINISH), Z_STREAM_END) << (zlib.msg == nullptr ? "" : zlib.msg);
  EXPECT_EQ(zlib.avail_in, 0U);
  data.resize(zlib.total_out);
  inflateEnd(&zlib);
  return data;
}

class UnitRunDeflate : public ::testing::Test {
 protected:
  Buffer deflated(const Buffer& data) {
    Buffer stream(RunDeflater::bound(data.size()));
    stream.resize(deflater_->deflate(data, stream.data()));
    return stream;
  }

  std::size_t expect_round_trip(const Buffer& data) {
    const Buffer stream = deflated(data);
    EXPECT_EQ(inflated(stream, data.size()), data) << data.size() << " bytes";
    return stream.size();
  }

  std::unique_ptr<RunDeflater> deflater_ = std::make_unique<RunDeflater>();
  std::mt19937 random_{9};
};

TEST_F(UnitRunDeflate, zlib_reads_what_it_writes_at_every_size) {
  for (std::size_t size = 0; size < 700; ++size) {
    Buffer data(size);
    for (std::byte& byte : data) byte = static_cast<std::byte>(random_() % 5 * (random_() % 7));
    expect_round_trip(data);
  }
  for (const std::size_t size : {32767UL, 32768UL, 32769UL, 65536UL, 100'000UL}) {
    Buffer data(size);
    for (std::byte& byte : data) byte = static_cast<std::byte>(random_() >> random_() % 30);
    expect_round_trip(data);
  }
}

TEST_F(UnitRunDeflate, runs_of_every_length_come_back) {
  Buffer data;
  for (std::size_t run = 1; run < 600; ++run) {
    data.insert(data.end(), run, static_cast<std::byte>(run % 251));
  }
  EXPECT_LT(expect_round_trip(data), data.size() / 50);
  EXPECT_LT(expect_round_trip(Buffer(1 << 20, std::byte{7})), 5000U);
  Buffer across(32760, std::byte{1});  // a run over the end of a block
  across.front() = std::byte{2};
  for (int i = 0; i < 100; ++i) across[static_cast<std::size_t>(i) * 300] = std::byte{9};
  across.insert(across.end(), 20, std::byte{1});
  expect_round_trip(across);
}

TEST_F(UnitRunDeflate, noise_grows_by_no_more_than_the_bound) {
  for (const std::size_t size : {1UL, 50UL, 3000UL, 70'000UL}) {
    Buffer noise(size);
    for (std::byte& byte : noise) byte = static_cast<std::byte>(random_());
    EXPECT_LE(expect_round_trip(noise), size + 5 * (size / 32768 + 1) + 6);
    Buffer stream(RunDeflater::bound(size) + 64, std::byte{0xa5});
    deflater_->deflate(noise, stream.data());
    EXPECT_EQ(Buffer(stream.end() - 64, stream.end()), Buffer(64, std::byte{0xa5}));
  }
}

TEST_F(UnitRunDeflate, uneven_counts_make_long_codes_that_come_back) {
  Buffer data;
  for (unsigned value = 0, count = 1; value < 15; ++value, count *= 2) {
    data.insert(data.end(), count, static_cast<std::byte>(value));
  }
  std::shuffle(data.begin(), data.end(), random_);
  EXPECT_LT(expect_round_trip(data), data.size() / 3);
}

TEST_F(UnitRunDeflate, the_same_data_give_the_same_bytes_whatever_came_before) {
  Buffer data(5000);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random_() % 11);
  const Buffer first = deflated(data);
  deflated(Buffer(90'000, std::byte{3}));
  EXPECT_EQ(deflated(data), first);
}

TEST_F(UnitRunDeflate, patterns_are_seen_and_noise_is_not_taken_for_one) {
  Buffer noise(20'000);
  for (std::byte& byte : noise) byte = static_cast<std::byte>(random_());
  EXPECT_FALSE(deflater_->has_repeats(noise));
  EXPECT_FALSE(deflater_->has_repeats(Buffer(20'000))) << "runs are its own business";
  for (const std::size_t period : {48UL, 97UL, 1000UL, 5001UL}) {
    Buffer pattern;
    for (std::size_t i = 0; i < 20'000; ++i) pattern.push_back(noise[i % period]);
    EXPECT_TRUE(deflater_->has_repeats(pattern)) << "every " << period << " bytes";
  }
}

TEST(UnitChecksum, sums_are_zlib_s) {
  Buffer data(5000);
  std::mt19937 random(2);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random());
  for (std::size_t size = 0; size < data.size(); size += 1 + size / 3) {
    const Bytes part = Bytes(data).first(size);
    const auto* bytes = reinterpret_cast<const Bytef*>(data.data());
    EXPECT_EQ(zip_crc32(part), crc32(0, bytes, static_cast<uInt>(size)));
    EXPECT_EQ(adler32_of(part), adler32(1, bytes, static_cast<uInt>(size)));
  }
}

}  // namespace
}  // namespace feedrate::formats
