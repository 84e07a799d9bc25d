#include "tools/lab/report/study/choice.h"
#include "tools/lab/report/study/study_verdict.h"

#include <gtest/gtest.h>

#include <array>

#include "formats/base/statistics.h"
#include "tests/support/in_text.h"
#include "tests/tools/noise.h"
#include "tests/tools/rows.h"
#include "tools/lab/report/study/report.h"
#include "tools/lab/report/write/study_tables.h"

namespace feedrate::tools {
namespace {

using loader::Limit;
using testing::delivered;
using testing::demand;
using testing::spread;
using testing::supply;

StudyVerdict verdict_of(const std::vector<Row>& rows) { return judge(make_studies(rows).front()); }

TEST(UnitVerdict, a_fed_trainer_gets_the_fewest_threads_that_feed_it) {
  const StudyVerdict verdict =
      verdict_of({demand(6000), delivered("lmdb", 0, 5000, 17), delivered("lmdb", 1, 5900, 1),
                  delivered("lmdb", 2, 5950, 1), delivered("lmdb", 4, 5960, 1)});
  EXPECT_EQ(verdict.threads, 1U);
  EXPECT_EQ(verdict.limit, Limit::trainer);
  EXPECT_EQ(verdict.answer, "1 loader thread is enough with lmdb × raw");
  EXPECT_EQ(verdict.reason(), "The trainer is the limit: loading costs 1.7 % of training time.");
}

TEST(UnitVerdict, a_starved_trainer_gets_the_fastest_format_and_the_loader_is_the_limit) {
  const StudyVerdict verdict =
      verdict_of({demand(48000), delivered("lmdb", 1, 6000, 87), delivered("lmdb", 4, 21000, 56),
                  delivered("png-map", 1, 1000, 98), delivered("png-map", 4, 3900, 92)});
  EXPECT_EQ(verdict.format, "lmdb × raw");
  EXPECT_EQ(verdict.threads, 4U);
  EXPECT_EQ(verdict.limit, Limit::loader);
  EXPECT_EQ(verdict.answer, "4 loader threads with lmdb × raw: 44 % of lenet's full speed");
  EXPECT_TRUE(verdict.as_good.empty());
  EXPECT_TRUE(testing::has(verdict.reason(), "loader is the limit")) << verdict.reason();
  EXPECT_TRUE(testing::has(verdict.reason(), "For comparison: png-map × raw 81 % slower."))
      << verdict.reason();
}

TEST(UnitVerdict, formats_within_three_percent_are_equal_and_the_one_with_fewer_threads_wins) {
  const StudyVerdict verdict =
      verdict_of({demand(6000), delivered("lmdb", 2, 5980, 1), delivered("recordio", 1, 5900, 1),
                  delivered("recordio", 2, 5950, 1)});
  EXPECT_EQ(verdict.format, "recordio × raw");
  EXPECT_EQ(verdict.threads, 1U);
  EXPECT_EQ(verdict.as_good, std::vector<std::string>{"lmdb × raw"});
}

TEST(UnitVerdict, where_every_format_feeds_the_trainer_loading_is_not_the_bottleneck) {
  const StudyVerdict verdict = verdict_of(
      {demand(6000), delivered("lmdb", 1, 5980, 0.3), delivered("recordio", 1, 5990, 4)});
  EXPECT_EQ(
      verdict.answer,
      "Loading is not the bottleneck: any of the 2 formats keeps lenet busy with 1 loader thread");
  EXPECT_EQ(verdict.finding,
            "Loading costs 0.3 % (lmdb × raw) to 4.0 % (recordio × raw) of training time.");
  EXPECT_EQ(verdict.format, "lmdb × raw") << "it costs less";
}

// Repeats that differ by 60 % change nothing about a stall that was measured within each run.
TEST(UnitVerdict, noise_does_not_hide_that_loading_is_not_the_bottleneck) {
  const StudyVerdict verdict =
      verdict_of({spread(demand(6000), 60), spread(delivered("lmdb", 0, 4500, 0.6), 60),
                  spread(delivered("png-map", 0, 6600, 7.4), 60)});
  EXPECT_EQ(verdict.limit, Limit::trainer);
  EXPECT_TRUE(verdict.answer.starts_with("Loading is not the bottleneck")) << verdict.answer;
  EXPECT_EQ(verdict.threads, 0U);
  EXPECT_FALSE(verdict.undecided);
}

Row on_device(Row row, double rate) {
  row.environment.cores = 2;
  if (row.kind == supply_kind) return row;
  row.device = "emulated 2,500/s";
  row.precision.reset();
  row.emulates = "as asked";
  row.emulated_rate = rate;
  return row;
}

/// 1 ms of CPU time for an image. Other programs left each thread a sixth of a core.
std::vector<Row> starved_rows() {
  Row alone = supply("folder", 2, 330), together = delivered("folder", 0, 140, 92);
  alone.cpu_us = 1000;
  alone.telemetry.core_wait_percent = 83;
  together.decode_us = 6000;
  return {on_device(demand(1500), 2500), on_device(alone, 2500), on_device(together, 2500)};
}

TEST(UnitVerdict, a_starved_loader_is_never_told_to_have_the_threads_that_were_tried) {
  const StudyVerdict verdict = verdict_of(starved_rows());
  EXPECT_EQ(verdict.answer,
            "This machine reaches 6 % of 2,500 images/s. Feeding it takes about 3 cores with "
            "folder × raw");
  EXPECT_TRUE(verdict.contended);
  EXPECT_TRUE(testing::has(verdict.reason(),
                           "Other programs used the CPU: loader threads got 17 % of a core."))
      << verdict.reason();
  EXPECT_NEAR(verdict.cores.value().likely, 2.5, 1e-9);
}

TEST(UnitVerdict, threads_that_were_not_tried_are_recommended_where_there_are_cores_for_them) {
  std::vector<Row> rows = starved_rows();
  for (Row& row : rows) {
    row.environment.cores = 16;
    row.telemetry.core_wait_percent = 1;
  }
  const StudyVerdict verdict = verdict_of(rows);
  EXPECT_EQ(verdict.answer, "Use about 3 loader threads with folder × raw");
  EXPECT_EQ(verdict.threads, 3U);
  EXPECT_EQ(verdict.measured_threads, 0U);
}

TEST(UnitVerdict, where_rates_are_too_close_the_cores_that_formats_need_rank_them) {
  const auto rows = [](double cpu_us) {
    Row first = supply("lmdb", 1, 1000), second = supply("recordio", 1, 1000);
    first.repeats = {600, 1000, 1400};
    second.repeats = {1300, 1000, 700};
    first.cpu_us = 1000;
    second.cpu_us = cpu_us;
    Row one = delivered("lmdb", 1, 1000, 60), two = delivered("recordio", 1, 1000, 60);
    one.repeats = {600, 1000, 1400};
    two.repeats = {1300, 1000, 700};
    one.decode_us = two.decode_us = 900;
    std::vector<Row> all{demand(2500), first, second, one, two};
    for (Row& row : all) row = on_device(row, 2500);
    return all;
  };
  EXPECT_EQ(verdict_of(rows(700)).format, "recordio × raw");
  EXPECT_TRUE(verdict_of(rows(700)).too_close.empty());
  const StudyVerdict close = verdict_of(rows(960));
  EXPECT_EQ(close.too_close.size(), 1U);
  EXPECT_TRUE(testing::has(close.details, "are too close to rank (± 15 %)")) << close.details;
}

TEST(UnitVerdict, a_difference_counts_where_the_rounds_carry_it) {
  // The machine slows down from round to round, and both with it.
  Row first = delivered("lmdb", 1, 8000, 50), second = delivered("recordio", 1, 6800, 50);
  first.repeats = {9000, 8000, 7000};
  second.repeats = {7660, 6800, 5940};
  const StudyVerdict apart = verdict_of({demand(48000), first, second});
  EXPECT_TRUE(apart.is_best("lmdb × raw")) << apart.answer;
  EXPECT_TRUE(testing::has(apart.details, "For comparison: recordio × raw 15 % slower."))
      << apart.details;
  // As much slower in each round as another format may never be, though the drift is wider.
  second.repeats = {8460, 7520, 6580};
  second.images_per_second = 7520;
  const StudyVerdict drifting = verdict_of({demand(48000), first, second});
  EXPECT_TRUE(drifting.is_best("lmdb × raw")) << drifting.details;
  // Much slower in one round, and faster in another.
  second.images_per_second = 6800;
  first.repeats = {8100, 8000, 7900};
  second.repeats = {6500, 8200, 6800};
  const StudyVerdict undecided = verdict_of({demand(48000), first, second});
  EXPECT_EQ(undecided.too_close, std::vector<std::string>{"recordio × raw"});
  EXPECT_FALSE(undecided.is_best("lmdb × raw"));
  EXPECT_TRUE(undecided.undecided);
}

TEST(UnitVerdict, rounds_of_two_benches_are_no_pairs) {
  Row first = delivered("lmdb", 1, 8000, 50), second = delivered("recordio", 1, 6800, 50);
  first.repeats = {9000, 8000, 7000};
  second.repeats = {7660, 6800, 5940};
  const auto study_of = [&] { return make_studies({demand(48000), first, second}).front(); };
  first.environment.command = second.environment.command = "feedrate bench";
  EXPECT_TRUE(judge(study_of()).too_close.empty());
  second.environment.command += " --resume";
  EXPECT_EQ(judge(study_of()).too_close.size(), 1U) << "each may have met another machine";
}

TEST(UnitVerdict, of_equal_formats_on_a_restless_machine_one_table_in_twenty_calls_one_slower) {
  constexpr unsigned tables = 400, kinds = 5, rounds = 3;
  testing::Noise noise(3);
  const auto wrong = [&](double slower) {
    std::array<unsigned, 2> found{};  // tables that name a difference that is none, or miss one
    for (unsigned table = 0; table < tables; ++table) {
      std::vector<Row> rows;
      for (unsigned format = 0; format < kinds; ++format) {
        Row row = supply("format-" + std::to_string(format), 1, 1000);
        const double rate = format == 0 ? 1000 : 1000 * (1 - slower);
        row.repeats.clear();
        for (unsigned round = 0; round < rounds; ++round)
          row.repeats.push_back(rate * noise.factor(slower > 0 ? 0.02 : 0.08));
        row.images_per_second = formats::median(row.repeats);
        rows.push_back(row);
      }
      const StudyVerdict verdict = verdict_of(rows);
      const std::size_t told = kinds - 1 - verdict.as_good.size() - verdict.too_close.size();
      found[0] += told > 0;
      found[1] += told < kinds - 1;
    }
    return found;
  };
  EXPECT_LE(wrong(0)[0], tables / 20);
  EXPECT_LE(wrong(0.2)[1], tables / 20);
}

TEST(UnitVerdict, more_than_the_demand_is_shown_as_it_is) {
  const auto share = [](double rate) {
    const Report report = make_report({demand(4000), delivered("lmdb", 1, rate, 1)});
    return std::array{answers_table(report).rows[0].cells[3],
                      formats_table(report.studies[0], report.verdicts[0]).rows[0].cells[4]};
  };
  EXPECT_EQ(share(6040), (std::array<std::string, 2>{"151 %", "151 %"}));
  EXPECT_EQ(share(4100), (std::array<std::string, 2>{"102 %", "102 %"}));
}

TEST(UnitVerdict, medians_that_do_not_differ_are_not_called_slower_by_nothing) {
  Row first = supply("lmdb", 1, 8000), second = supply("recordio", 1, 7990);
  first.repeats = {9500, 8000, 7000};
  second.repeats = {7000, 7990, 9400};
  EXPECT_TRUE(
      testing::has(verdict_of({first, second}).details, "recordio × raw less than 1 % apart"))
      << verdict_of({first, second}).details;
}

TEST(HostileVerdict, a_demand_of_zero_gives_no_share) {
  const StudyVerdict verdict =
      verdict_of({demand(0), delivered("lmdb", 1, 0, 1), delivered("recordio", 1, 0, 1)});
  EXPECT_FALSE(percent_of_demand(verdict));
  for (const std::string_view never : {"nan", "inf"}) {
    EXPECT_FALSE(testing::has(verdict.reason(), never)) << verdict.reason();
  }
}

TEST(UnitVerdict, supply_decides_between_formats_that_deliver_the_same) {
  const StudyVerdict verdict =
      verdict_of({demand(6000), supply("lmdb", 1, 50000), supply("recordio", 1, 900000),
                  delivered("lmdb", 1, 5990, 1), delivered("recordio", 1, 5980, 1)});
  EXPECT_EQ(verdict.format, "recordio × raw");
}

TEST(UnitVerdict, intervals_that_hold_everything_rank_nothing) {
  Row first = delivered("lmdb", 1, 7000, 40), second = delivered("recordio", 1, 5500, 50);
  first.repeats = {1200, 7000, 13'900};  // 95 %: from below 0 to above 20,000
  second.repeats = {9000, 5500, 1500};
  const StudyVerdict verdict = verdict_of({demand(8000), supply("lmdb", 1, 9000), first, second});
  EXPECT_TRUE(verdict.undecided);
  EXPECT_FALSE(verdict.is_best(verdict.format));
}

TEST(UnitVerdict, formats_as_fast_as_the_chosen_one_are_named_beside_it) {
  const StudyVerdict verdict =
      verdict_of({demand(48000), delivered("lmdb", 2, 20'000, 50),
                  delivered("recordio", 2, 20'100, 50), delivered("png-map", 2, 4000, 90)});
  EXPECT_EQ(verdict.as_good, std::vector<std::string>{"recordio × raw"});
}

TEST(UnitVerdict, fewer_than_three_repeats_name_no_best_format) {
  Row first = delivered("lmdb", 1, 8000, 50), second = delivered("recordio", 1, 4000, 50);
  first.repeats = {8000};
  second.repeats = {4000};
  const StudyVerdict verdict = verdict_of({demand(48000), first, second});
  EXPECT_FALSE(verdict.is_best("lmdb × raw"));
  EXPECT_TRUE(verdict.undecided);
}

TEST(UnitVerdict, of_supply_alone_only_a_format_beyond_the_noise_is_the_best) {
  Row first = supply("lmdb", 1, 8000), second = supply("recordio", 1, 6800);
  EXPECT_EQ(verdict_of({first, second}).answer,
            "1 loader thread with lmdb × raw supplies 8,000 images/s");
  EXPECT_TRUE(verdict_of({first, second}).is_best("lmdb × raw"));
  first.repeats = {8100, 8000, 7900};
  second.repeats = {6500, 8200, 6800};
  EXPECT_FALSE(verdict_of({first, second}).is_best("lmdb × raw"));
}

TEST(UnitVerdict, wild_repeats_do_not_excuse_a_large_difference) {
  const StudyVerdict verdict = verdict_of(
      {demand(6000), spread(delivered("lmdb", 1, 500, 2), 150), delivered("lmdb", 2, 5900, 2)});
  EXPECT_EQ(verdict.threads, 2U);
}

TEST(UnitVerdict, below_demand_without_waiting_the_cores_are_the_limit) {
  const StudyVerdict verdict = verdict_of({demand(6000), delivered("lmdb", 1, 3500, 0.5)});
  EXPECT_EQ(verdict.limit, Limit::cores);
  EXPECT_TRUE(testing::has(verdict.reason(), "cores are the limit")) << verdict.reason();
}

TEST(UnitVerdict, without_training_supply_is_judged_and_the_limit_is_unknown) {
  const StudyVerdict verdict = verdict_of({supply("lmdb", 1, 600000), supply("lmdb", 2, 1200000)});
  EXPECT_EQ(verdict.threads, 2U);
  EXPECT_EQ(verdict.limit, Limit::unknown);
  EXPECT_TRUE(testing::has(verdict.reason(), "Nothing was trained")) << verdict.reason();
}

TEST(UnitVerdict, what_another_tool_or_a_cold_start_delivers_is_never_the_answer) {
  auto cold = delivered("recordio", 1, 5990, 1);
  cold.cache = cold_cache;
  auto peer = delivered("recordio", 2, 9000, 1);
  peer.tool = "pytorch";
  const StudyVerdict verdict =
      verdict_of({demand(6000), delivered("lmdb", 4, 4000, 30), cold, peer});
  EXPECT_EQ(verdict.answer, "4 loader threads with lmdb × raw: 67 % of lenet's full speed");
  EXPECT_TRUE(testing::has(verdict.reason(), "pytorch · recordio × raw 125 % faster"))
      << verdict.reason();
}

TEST(UnitVerdict, a_cold_start_alone_is_judged_as_it_is) {
  auto cold = delivered("lmdb", 2, 3000, 50);
  cold.cache = cold_cache;
  EXPECT_EQ(verdict_of({demand(6000), cold}).answer,
            "2 loader threads with lmdb × raw, cold: 50 % of lenet's full speed");
}

TEST(UnitVerdict, the_knee_is_the_first_point_that_is_as_fast_as_the_fastest) {
  const auto studies = make_studies(
      {delivered("lmdb", 1, 969, 1), delivered("lmdb", 2, 971, 1), delivered("lmdb", 4, 1000, 1)});
  EXPECT_EQ(knee(studies.front().curves.front().delivered).threads, 2U);
}

TEST(UnitVerdict, demand_alone_gives_no_answer) {
  EXPECT_EQ(verdict_of({demand(6000)}).answer, "No answer");
}

// The rows of a quickstart: LeNet on two cores, where the report once blamed the loader.
TEST(UnitVerdict, a_serial_load_of_a_few_percent_is_no_stall_and_the_loader_is_not_blamed) {
  const auto on_two_cores = [](tools::Row row) {
    row.environment.cores = 2;
    row.compute_threads = 2;
    return row;
  };
  std::vector<tools::Row> rows{on_two_cores(spread(demand(8840), 5)),
                               on_two_cores(supply("recordio", 0, 158'210))};
  rows.push_back(on_two_cores(spread(delivered("recordio", 0, 8663, 6.0), 4)));
  rows.push_back(on_two_cores(spread(delivered("recordio", 1, 8700, 0.3), 4)));
  rows.push_back(on_two_cores(spread(delivered("lmdb", 0, 8650, 1.0), 4)));
  const auto study = make_studies(rows).front();
  const StudyVerdict verdict = judge(study);
  EXPECT_EQ(verdict.limit, Limit::trainer);
  EXPECT_TRUE(
      testing::has(sentence(study, verdict),
                   "Loading is not the bottleneck: any of the 2 formats keeps lenet busy with "
                   "no loader threads. Loading costs 1.0 % (lmdb × raw) to 6.0 % (recordio × "
                   "raw) of training time."))
      << sentence(study, verdict);
}

}  // namespace
}  // namespace feedrate::tools
