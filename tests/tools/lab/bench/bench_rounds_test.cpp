// The order in which a bench measures, and what it predicts from. The processes are faked.

#include "tools/lab/bench/rounds.h"

#include <gtest/gtest.h>

#include "formats/base/error.h"
#include "tests/tools/rows.h"

namespace feedrate::tools {
using namespace formats;

namespace {

BenchPoint point(Row row) {
  row.repeats.clear();
  return {row};
}

const std::vector<BenchPoint> points = {
    point(testing::supply("lmdb", 1, 0)), point(testing::supply("lmdb", 2, 0)),
    point(testing::demand(0)), point(testing::delivered("lmdb", 2, 0, 0))};

/// What a bench of `repeat` repeats on two cores ran and reported.
struct Heard {
  std::string order;  // of kinds and threads
  std::vector<Row> rows;
  std::size_t repeated = 0;
};

/// `rate_of` gives the rate of each process, from its row and turn.
template <class RateOf>
Heard measure(unsigned repeat, const RateOf& rate_of, std::vector<Row> before = {}) {
  BenchOptions options;
  options.repeat = repeat;
  Heard heard;
  int turn = 0;
  RoundsCalls calls;
  calls.run = [&](const BenchPoint& one, const std::vector<std::string>&) {
    heard.order += join(one.row.kind, one.row.threads.value_or(0), " ");
    return Finished{.output = join(R"({"images_per_second": )", rate_of(one.row, turn++), "}")};
  };
  calls.repeated = [&](const BenchPoint&, double) { ++heard.repeated; };
  calls.finished = [&](const BenchPoint&, const Row& row) { heard.rows.push_back(row); };
  try {
    measure_in_rounds(points, options, std::move(before), 2, calls);
  } catch (const Error& error) {
    heard.order += error.what();
  }
  return heard;
}

TEST(UnitBenchRounds, with_time_to_decide_rounds_go_on_until_nothing_is_undecided) {
  BenchOptions options;
  options.repeat = 2;
  options.decide = 1;
  std::size_t finished = 0, asked = 0;
  RoundsCalls calls;
  calls.run = [](const BenchPoint&, const auto&) {
    return Finished{.output = R"({"images_per_second": 5})"};
  };
  calls.repeated = [](const BenchPoint&, double) {};
  calls.finished = [&](const BenchPoint& one, const Row& row) {
    ++finished;
    EXPECT_EQ(row.repeats.size(), one.row.kind == supply_kind ? 2U : 4U);
  };
  calls.goes_on = [&](const std::vector<Row>& rows) {
    EXPECT_EQ(rows.size(), asked == 0 ? 2U : 4U) << "supply alone, then all";
    EXPECT_EQ(rows.back().repeats.size(), asked == 0 ? 2U : 1 + asked);
    return ++asked == 2 || asked == 3;
  };
  measure_in_rounds(points, options, {}, 2, calls);
  EXPECT_EQ(asked, 4U);
  EXPECT_EQ(finished, points.size());
}

TEST(UnitBenchRounds, points_take_turns_supply_first) {
  const Heard heard = measure(2, [](const feedrate::tools::Row&, int turn) { return 100 + turn; });
  EXPECT_EQ(heard.order, "supply1 supply2 supply1 supply2 demand0 delivered2 demand0 delivered2 ");
  EXPECT_EQ(heard.repeated, 4U);
  ASSERT_EQ(heard.rows.size(), 4U);
  EXPECT_EQ(heard.rows[0].repeats, (std::vector<double>{100, 102}));
  EXPECT_EQ(heard.rows[3].repeats, (std::vector<double>{105, 107}));
}

/// `label` of each point that was run, in the order of three rounds.
std::string order_of(const std::vector<BenchPoint>& measured,
                     std::string (*label)(const feedrate::tools::Row& row)) {
  std::string order;
  RoundsCalls calls;
  calls.run = [&](const BenchPoint& one, const std::vector<std::string>&) {
    order += label(one.row) + " ";
    return Finished{.output = R"({"images_per_second": 1})"};
  };
  calls.repeated = [](const BenchPoint&, double) {};
  calls.finished = [](const BenchPoint&, const feedrate::tools::Row&) {};
  measure_in_rounds(measured, {}, {}, 1, calls);
  return order;
}

TEST(UnitBenchRounds, warm_and_cold_points_share_no_rounds) {
  std::vector<BenchPoint> both = {points[0], points[0]};
  both[1].row.cache = cold_cache;
  EXPECT_EQ(order_of(both, [](const feedrate::tools::Row& row) { return row.cache; }),
            "warm warm warm cold cold cold ");
}

TEST(UnitBenchRounds, sets_of_images_come_one_after_the_other) {
  std::vector<BenchPoint> two = {points[0], points[0]};
  two[1].row.digest = "d2";
  EXPECT_EQ(order_of(two, [](const feedrate::tools::Row& row) { return row.digest; }),
            "d1 d1 d1 d2 d2 d2 ");
}

TEST(UnitBenchRounds, a_slow_round_is_predicted_slow) {
  // An infinitely fast loader; from the second of three rounds on, the machine is half as fast.
  const Heard heard = measure(3, [](const feedrate::tools::Row& row, int turn) {
    if (row.kind == supply_kind) return 1'000'000'000;
    return turn >= 8 ? 500 : 1000;
  });
  ASSERT_EQ(heard.rows.size(), 4U);
  EXPECT_EQ(heard.rows[3].repeats, (std::vector<double>{1000, 500, 500}));
  EXPECT_NEAR(heard.rows[3].predicted.value_or(0), 500, 0.1);
  const Heard slow = measure(1, [](const feedrate::tools::Row& row, int) {
    return row.kind == supply_kind ? 1'000'000'000 : 500;
  });
  EXPECT_NEAR(slow.rows[3].predicted.value_or(0), 500, 0.1);
}

TEST(UnitBenchRounds, peers_are_not_predicted) {
  std::vector<BenchPoint> theirs = points;
  for (BenchPoint& one : theirs) one.row.tool = "pytorch";
  std::size_t predicted = 0;
  const RoundsCalls calls{
      .run =
          [](const BenchPoint&, const std::vector<std::string>&) {
            return Finished{.output = R"({"images_per_second": 1})"};
          },
      .repeated = [](const BenchPoint&, double) {},
      .finished = [&](const BenchPoint&,
                      const feedrate::tools::Row& row) { predicted += row.predicted ? 1 : 0; }};
  measure_in_rounds(theirs, {}, {}, 2, calls);
  EXPECT_EQ(predicted, 0U);
}

TEST(UnitBenchRounds, rows_of_an_earlier_run_predict_too) {
  std::vector<feedrate::tools::Row> before = {testing::demand(700)};
  const Heard heard = measure(
      1, [](const feedrate::tools::Row&, int) { return 1'000'000'000; }, std::move(before));
  EXPECT_NEAR(heard.rows[3].predicted.value_or(0), 700, 0.1);
}

TEST(UnitBenchRounds, repeats_are_reported_when_a_later_one_fails) {
  const Heard heard = measure(2, [](const feedrate::tools::Row& row, int turn) {
    if (row.kind == delivered_kind && turn == 7) throw Error("no more");
    return 100;
  });
  EXPECT_TRUE(heard.order.ends_with("no more")) << heard.order;
  ASSERT_EQ(heard.rows.size(), 4U);
  EXPECT_EQ(heard.rows[2].repeats.size(), 2U);
  EXPECT_EQ(heard.rows[3].repeats.size(), 1U) << "the second failed";
}

}  // namespace
}  // namespace feedrate::tools
