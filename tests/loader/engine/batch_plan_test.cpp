#include "loader/engine/batch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/support/expect_error.h"

namespace feedrate::loader::detail {
namespace {

TEST(UnitPlan, runs_cover_every_position_of_every_epoch_once_and_in_order) {
  for (const std::uint64_t size : {1U, 63U, 64U, 65U, 1000U}) {
    for (const std::uint32_t batch : {1U, 10U, 64U, 100U, 5000U}) {
      for (const std::size_t image_bytes : {1U, 784U, 3072U, 150528U}) {
        const Plan plan({.batch = batch, .epochs = 2}, size, image_bytes);
        std::uint64_t expected = 0;
        for (std::uint64_t r = 0; r < plan.chunks(); ++r) {
          const auto chunk = plan.chunk(r);
          ASSERT_LE(chunk.count, plan.chunk_length());
          if (chunk.count == 0) continue;
          const std::uint64_t position = chunk.batch.epoch * size + chunk.batch.first + chunk.seat;
          ASSERT_EQ(position, expected);
          ASSERT_LE(chunk.seat + chunk.count, chunk.batch.count);
          expected += chunk.count;
        }
        EXPECT_EQ(expected, 2 * size) << size << " samples in batches of " << batch;
      }
    }
  }
}

TEST(UnitPlan, runs_hold_many_small_images_or_one_large_image) {
  EXPECT_EQ(Plan({.batch = 256}, 60000, 784).chunk_length(), 64U);
  EXPECT_EQ(Plan({.batch = 64}, 60000, 784).chunks_per_batch(), 1U);
  EXPECT_EQ(Plan({.batch = 70}, 60000, 784).chunk_length(), 35U) << "not 64 and 6";
  EXPECT_EQ(Plan({.batch = 256}, 60000, 3072).chunk_length(), 16U);
  EXPECT_EQ(Plan({.batch = 256}, 60000, 224 * 224 * 3).chunk_length(), 1U);
  EXPECT_EQ(Plan({.batch = 8}, 60000, 784).chunk_length(), 8U);
}

TEST(UnitPlan, the_end_of_an_epoch_is_the_start_of_the_next) {
  EXPECT_EQ(Plan({.batch = 10, .epochs = 1, .start = {.position = 100}}, 100, 784).batches(), 0U);
  const Plan plan({.batch = 10, .epochs = 2, .start = {.position = 100}}, 100, 784);
  EXPECT_EQ(plan.batches(), 10U);
  EXPECT_EQ(plan.batch(0).epoch, 1U);
  EXPECT_EQ(plan.batch(0).first, 0U);
}

TEST(UnitPlan, ranks_cover_every_epoch_once_for_any_remainder) {
  for (const std::uint64_t size : {63U, 64U, 65U, 1000U}) {
    for (const std::uint32_t ranks : {1U, 2U, 3U, 8U}) {
      for (const std::uint64_t start : {0U, 10U, 25U}) {
        std::vector<int> seen(2 * size);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          LoaderOptions options{.batch = 5, .epochs = 2, .start = {.position = start}};
          options.share.rank = rank;
          options.share.ranks = ranks;
          const Plan plan(options, size, 784);
          std::uint64_t last_number = 0;
          for (std::uint64_t b = 0; b < plan.batches(); ++b) {
            const BatchRange range = plan.batch(b);
            if (b > 0) {
              EXPECT_GT(range.number, last_number);
            }
            last_number = range.number;
            ASSERT_GT(range.count, 0U);
            ASSERT_GE(range.after, range.first + range.count);
            for (std::uint32_t i = 0; i < range.count; ++i) {
              ++seen.at(range.epoch * size + range.first + i);
            }
          }
          EXPECT_TRUE(plan.batch(plan.batches() - 1).last_of_epoch);
        }
        for (std::size_t i = 0; i < seen.size(); ++i) {
          ASSERT_EQ(seen[i], i < start ? 0 : 1)
              << "position " << i << " of " << size << ", " << ranks << " ranks from " << start;
        }
      }
    }
  }
}

// The batches that a rank of several gets of `left` images, which are dealt out one by one.
std::uint64_t dealt(std::uint64_t left, const LoaderOptions& options) {
  std::uint64_t batches = 0;
  const std::uint64_t step = std::uint64_t{options.batch} * options.share.ranks;
  for (; left > 0; left -= std::min(left, step)) {
    const bool full = left >= step;
    const bool some = options.order.last == LastBatch::wrap ||
                      (options.order.last == LastBatch::partial && left > options.share.rank);
    batches += full || some ? 1 : 0;
  }
  return batches;
}

TEST(UnitPlan, ranks_get_equally_many_batches_or_are_told_of_last) {
  unsigned taken = 0, refused = 0;
  const auto check = [&](LoaderOptions options, std::uint64_t size) {
    const auto batches = [&](std::uint32_t rank) {
      options.share.rank = rank;
      const std::uint64_t first = dealt(size - options.start.position, options);
      return std::pair(first, dealt(size, options));
    };
    const auto first = batches(0);
    const bool equal = batches(options.share.ranks - 1) == first;  // the last gets the fewest
    for (std::uint32_t rank = 0; rank < options.share.ranks; ++rank) {
      options.share.rank = rank;
      if (!equal) {
        testing::expect_error([&] { Plan(options, size, 784); }, {"pad, drop or wrap"});
        options.share.in_step = false;
        if (batches(rank).second > 0) {
          ASSERT_EQ(Plan(options, size, 784).batches(), batches(rank).first + batches(rank).second);
        }
        options.share.in_step = true;
      } else if (first.second == 0) {
        testing::expect_error([&] { Plan(options, size, 784); }, {"no batch"});
      } else {
        const Plan plan(options, size, 784);
        ASSERT_EQ(plan.batches_per_epoch(), first.second);
        ASSERT_EQ(plan.batches(), first.first + first.second);
        std::uint32_t largest = 0;
        for (std::uint64_t b = 0; b < plan.batches(); ++b)
          largest = std::max(largest, plan.batch(b).count);
        ASSERT_EQ(plan.max_count(), largest) << "or memory is reserved for nothing";
      }
    }
    ++(equal ? taken : refused);
  };
  for (const LastBatch last : {LastBatch::partial, LastBatch::drop, LastBatch::wrap}) {
    for (std::uint64_t size = 1; size <= 24; ++size) {
      for (std::uint32_t ranks = 1; ranks <= 5; ++ranks) {
        for (std::uint32_t batch = 1; batch <= 6; ++batch) {
          for (std::uint64_t start = 0; start <= size; ++start) {
            check({.batch = batch,
                   .epochs = 2,
                   .start = {.position = start},
                   .order = {.last = last},
                   .share = {.ranks = ranks}},
                  size);
          }
        }
      }
    }
  }
  EXPECT_GT(taken, 10000U);
  EXPECT_GT(refused, 1000U);
}

TEST(UnitPlan, drop_and_wrap_give_every_rank_the_same_number_of_full_batches) {
  for (const LastBatch last : {LastBatch::drop, LastBatch::wrap}) {
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      LoaderOptions options{.batch = 10, .epochs = 2, .order = {.last = last}};
      options.share.rank = rank;
      options.share.ranks = 4;
      const Plan plan(options, 81, 784);
      EXPECT_EQ(plan.batches_per_epoch(), last == LastBatch::drop ? 2U : 3U);
      for (std::uint64_t b = 0; b < plan.batches(); ++b) EXPECT_EQ(plan.batch(b).count, 10U);
    }
  }
}

// As PyTorch's DistributedSampler and DataLoader divide an epoch, or its rest.
TEST(UnitPlan, shares_of_one_size_repeat_or_leave_out_fewer_images_than_there_are_ranks) {
  const auto check = [](LoaderOptions options, std::uint64_t size) {
    const bool pads = options.order.last == LastBatch::pad;
    const bool repeats = pads || options.share.uneven == UnevenShares::repeat;
    const std::uint64_t ranks = options.share.ranks, start = options.start.position;
    const std::uint64_t each = (size - start + (repeats ? ranks - 1 : 0)) / ranks;
    std::uint64_t batches = each / options.batch;
    if (options.order.last != LastBatch::drop && each % options.batch != 0) ++batches;
    const std::uint64_t images =
        options.order.last == LastBatch::drop ? batches * options.batch : each;
    std::vector<std::uint64_t> seen(size);
    std::uint64_t repeated = 0, past = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      options.share.rank = rank;
      const Plan plan(options, size, 784);
      ASSERT_EQ(plan.batches(), batches);
      std::uint64_t found = 0;
      for (std::uint64_t b = 0; b < batches; ++b) {
        const BatchRange range = plan.batch(b);
        ASSERT_EQ(range.count, std::min<std::uint64_t>(images - found, options.batch));
        ASSERT_EQ(range.last_of_epoch, b + 1 == batches);
        ASSERT_LE(range.count, plan.max_count());
        found += range.count;
        repeated += range.repeated;
        for (std::uint32_t i = 0; i < range.count; ++i) {
          const std::uint64_t position = range.first + i * range.stride;
          if (options.share.interleaved) {
            ASSERT_EQ(position, start + (b * options.batch + i) * ranks + rank);
          }
          past += position >= size ? 1 : 0;
          ++seen[position % size];
        }
      }
    }
    ASSERT_EQ(repeated, past);
    if (repeats && options.order.last != LastBatch::drop) {
      ASSERT_EQ(repeated, each * ranks - (size - start));
    }
    for (std::uint64_t at = start; start == 0 && at < size; ++at) {
      const std::uint64_t round = images * ranks / size, more = images * ranks % size;
      ASSERT_EQ(seen[at], round + (at < more ? 1 : 0)) << at << " of " << size;
    }
  };
  for (const UnevenShares uneven : {UnevenShares::repeat, UnevenShares::leave_out}) {
    for (const LastBatch last : {LastBatch::partial, LastBatch::drop, LastBatch::pad}) {
      for (std::uint64_t size = 1; size <= 24; ++size) {
        for (std::uint32_t ranks = 1; ranks <= 5; ++ranks) {
          for (std::uint32_t batch = 1; batch <= 6; ++batch) {
            const std::uint64_t least =
                last == LastBatch::drop  ? std::uint64_t{batch} * ranks
                : last == LastBatch::pad ? 1
                                         : ranks;
            if (size < least) continue;
            for (const std::uint64_t start : {std::uint64_t{0}, size / 3, size - 1}) {
              check({.batch = batch,
                     .epochs = 1,
                     .start = {.position = start},
                     .order = {.last = last},
                     .share = {.ranks = ranks,
                               .uneven = uneven,
                               .interleaved = (size + batch) % 2 == 0}},
                    size);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace feedrate::loader::detail
