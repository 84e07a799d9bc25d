#include "formats/codecs/packed/packed_blocks.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "tests/support/fenced_bytes.h"

namespace feedrate::formats {
namespace {

using Block = std::array<std::int16_t, 64>;

// Few or many coefficients, small or large ones.
Block random_block(std::mt19937& random) {
  Block block{};
  const unsigned rarity = 1 + static_cast<unsigned>(random() % 20);
  const unsigned bits = 1 + static_cast<unsigned>(random() % 16);
  for (std::int16_t& value : block) {
    if (random() % rarity != 0) continue;
    value = static_cast<std::int16_t>(static_cast<std::int16_t>(random()) >> (16 - bits));
  }
  return block;
}

// Where the block ends, counted from `at`; -1 where it is refused.
std::ptrdiff_t unpacked(const BlockUnpacking& way, const std::byte* at, Block& block) {
  block.fill(0x5555);
  std::int16_t* to = block.data();
  const std::byte* end = way.unpack(at, 1, &to);
  return end == nullptr ? -1 : end - at;
}

TEST(UnitPackedBlocks, every_way_gives_back_what_was_packed) {
  std::mt19937 random(1);
  std::size_t longest = 0;
  for (int round = 0; round < 20000; ++round) {
    const Block block = random_block(random);
    Buffer packed;
    pack_block(block.data(), packed);
    const std::size_t size = packed.size();
    longest = std::max(longest, size);
    packed.resize(size + block_slack, std::byte{0xff});
    for (const BlockUnpacking* way : runnable_block_unpackings()) {
      Block back;
      ASSERT_EQ(unpacked(*way, packed.data(), back), static_cast<std::ptrdiff_t>(size))
          << way->name;
      ASSERT_EQ(back, block) << way->name;
    }
  }
  EXPECT_EQ(longest, max_block_bytes);
}

TEST(UnitPackedBlocks, a_block_of_zeros_is_one_byte_and_one_of_a_small_mean_two) {
  Block block{};
  Buffer packed;
  pack_block(block.data(), packed);
  EXPECT_EQ(packed, Buffer{std::byte{0}});
  block[0] = -128;
  packed.clear();
  pack_block(block.data(), packed);
  EXPECT_EQ(packed, (Buffer{std::byte{0x10}, std::byte{0x80}}));
}

TEST(UnitPackedBlocks, the_documented_bytes) {
  Block block{};
  block[0] = 300;   // does not fit into a byte
  block[1] = -8;    // bit 0, a nibble
  block[16] = 100;  // bit 2, follows
  Buffer packed;
  pack_block(block.data(), packed);
  const Buffer expected{std::byte{0x21}, std::byte{0x2c}, std::byte{0x01},
                        std::byte{0x05}, std::byte{0x08}, std::byte{100}};
  EXPECT_EQ(packed, expected);
  block[16] = -200;
  packed.clear();
  pack_block(block.data(), packed);
  EXPECT_EQ(packed[0], std::byte{0x61}) << "wide";
  EXPECT_EQ(packed.size(), 7U);
  EXPECT_EQ(packed[5], std::byte{0x38});
  EXPECT_EQ(packed[6], std::byte{0xff});
}

TEST(UnitPackedBlocks, several_blocks_lie_one_behind_the_other) {
  std::mt19937 random(2);
  std::array<Block, 10> blocks, back;
  std::array<std::int16_t*, 10> to;
  Buffer packed;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i] = random_block(random);
    pack_block(blocks[i].data(), packed);
    to[i] = back[i].data();
  }
  const std::size_t size = packed.size();
  packed.resize(size + block_slack);
  for (const BlockUnpacking* way : runnable_block_unpackings()) {
    back.fill({});
    EXPECT_EQ(way->unpack(packed.data(), blocks.size(), to.data()), packed.data() + size);
    EXPECT_EQ(back, blocks) << way->name;
  }
}

TEST(UnitPackedBlocks, runs_are_sound_that_are_exactly_their_blocks) {
  std::mt19937 random(4);
  Buffer data;
  std::vector<std::size_t> ends;
  const std::size_t counts[] = {6, 48, 1, 30, 48, 7};  // more runs than are checked in turn
  for (const std::size_t count : counts) {
    for (std::size_t i = 0; i < count; ++i) pack_block(random_block(random).data(), data);
    ends.push_back(data.size());
  }
  std::vector<PackedRun> runs;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    runs.push_back({Bytes(data).subspan(begin, ends[i] - begin), counts[i]});
  }
  const std::byte* const end = data.data() + data.size();
  EXPECT_EQ(first_unsound(runs, end), runs.size());
  EXPECT_EQ(first_unsound({}, nullptr), 0U);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const PackedRun& wrong :
         {PackedRun{runs[i].data, counts[i] + 1}, PackedRun{runs[i].data, counts[i] - 1},
          PackedRun{runs[i].data.first(runs[i].data.size() - 1), counts[i]}}) {
      std::vector<PackedRun> some = runs;
      some[i] = wrong;
      EXPECT_EQ(first_unsound(some, end), i);
    }
  }
}

TEST(HostilePackedBlocks, any_bytes_give_the_same_in_every_way_and_none_reads_too_far) {
  std::mt19937 random(3);
  const testing::FencedBytes memory(max_block_bytes + block_slack, testing::Fence::behind);
  const testing::FencedBytes fenced(max_block_bytes, testing::Fence::behind);
  int refused = 0;
  for (int round = 0; round < 50000; ++round) {
    for (std::byte& byte : memory.bytes()) {
      byte = static_cast<std::byte>(random() % 4 == 0 ? 0 : random());
    }
    if (round % 4 != 0) memory.bytes()[0] &= std::byte{0x6f};
    Block expected;
    const std::ptrdiff_t end = unpacked(plain_block_unpacking, memory.data(), expected);
    refused += end < 0;
    ASSERT_LE(end, static_cast<std::ptrdiff_t>(max_block_bytes));
    // Checked with as many bytes behind it, and directly in front of the fence.
    for (std::size_t size = 0; size <= max_block_bytes; size += 1 + random() % 40) {
      const auto fits = static_cast<std::size_t>(end);
      const std::size_t length = end >= 0 && size + 40 > max_block_bytes ? fits : size;
      const bool sound = end >= 0 && length == fits;
      const PackedRun run{memory.bytes().first(length), 1};
      ASSERT_EQ(first_unsound({&run, 1}, memory.data() + memory.bytes().size()) == 1, sound);
      const MutableBytes last = fenced.bytes().last(length);
      std::copy_n(memory.data(), length, last.begin());
      const PackedRun at_fence{last, 1};
      ASSERT_EQ(first_unsound({&at_fence, 1}, last.data() + length) == 1, sound);
    }
    for (const BlockUnpacking* way : runnable_block_unpackings()) {
      Block block;
      ASSERT_EQ(unpacked(*way, memory.data(), block), end) << way->name;
      if (end >= 0) {
        ASSERT_EQ(block, expected) << way->name;
      }
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_LT(refused, 45000);
}

}  // namespace
}  // namespace feedrate::formats
