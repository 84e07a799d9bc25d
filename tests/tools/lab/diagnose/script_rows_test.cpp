// A diagnosis as rows of results, and the page that 'feedrate report' makes of them. The figures are made up.

#include <gtest/gtest.h>

#include "tests/support/in_text.h"
#include "tests/tools/lab/diagnose/made.h"
#include "tools/lab/diagnose/script_rows.h"
#include "tools/lab/report/write/output.h"

namespace feedrate::tools {
namespace {

using testing::has;
using testing::MadeLoop;

Environment machine() {
  Environment on;
  on.cpu = "a processor";
  on.cores = 4;
  on.build_type = "Release";
  on.commit = "1234567";
  return on;
}

Diagnosis diagnosed() {
  MadeLoop loop{.workers = 2, .wait = 0.03};
  loop.spans = {{"getitem", {0.01, 0.01, 10}},
                {"decode", {0.04, 0.04, 10}},
                {"transform:Resize", {0.015, 0.015, 10}},
                {"collate", {0.005, 0.005, 1}}};
  Seen seen = loop.seen();
  for (const std::uint64_t workers : {0U, 1U, 2U}) {
    seen.add({1, 1,
              Swept{.workers = workers,
                    .batches = 10,
                    .time = 1.0 / (1.0 + static_cast<double>(workers))}});
  }
  return diagnose(seen, {"python", "train.py"}, 4);
}

std::vector<Row> of_kind(const std::vector<Row>& rows, std::string_view kind) {
  std::vector<Row> found;
  for (const Row& row : rows) {
    if (row.kind == kind) found.push_back(row);
  }
  return found;
}

TEST(UnitScriptRows, hold_what_was_measured_and_can_be_read_again) {
  Diagnosis found = diagnosed();
  found.restarts = {{.workers = 2, .predicted = 100, .delivered = 90, .wait_share = 0.4},
                    {.workers = 4, .predicted = 200, .delivered = 190, .wait_share = 0.2},
                    {.workers = 8, .predicted = 300, .problem = "it ended"}};
  const std::vector<Row> rows = script_rows(found, machine());
  for (const Row& row : rows) {
    const Row again = parse_row(to_json_line(row), "rows", 1);
    EXPECT_EQ(to_json_line(again), to_json_line(row));
    EXPECT_TRUE(is_of_script(again));
    EXPECT_EQ(again.digest, rows.front().digest);
    EXPECT_EQ(again.batch, 10U);
  }
  const std::vector<Row> supplied = of_kind(rows, supply_kind);
  ASSERT_EQ(supplied.size(), 3U) << "0, 1 and 2 workers were swept, 4 only predicted";
  EXPECT_NEAR(supplied[2].images_per_second, 300, 1e-6);
  EXPECT_FALSE(supplied[1].predicted) << "it is what the others are predicted from";
  EXPECT_TRUE(supplied[2].predicted);
  EXPECT_NEAR(*supplied[0].read_us, 1000, 1);
  EXPECT_NEAR(*supplied[0].decode_us, 4000, 1);
  EXPECT_NEAR(*supplied[0].augment_us, 2000, 1) << "with collating";
  const std::vector<Row> demands = of_kind(rows, demand_kind);
  ASSERT_EQ(demands.size(), 1U);
  EXPECT_NEAR(demands[0].images_per_second, 1000, 10);
  const std::vector<Row> loops = of_kind(rows, delivered_kind);
  ASSERT_EQ(loops.size(), 2U) << "the script's own is measured without --restart, and 8 were not";
  EXPECT_EQ(loops[0].threads, 2U);
  EXPECT_NEAR(loops[0].images_per_second, 250, 2);
  EXPECT_NEAR(*loops[0].stall_percent, 75, 1);
  EXPECT_NEAR(*loops[0].wait_ms, 30, 1);
  EXPECT_EQ(loops[1].threads, 4U);
  EXPECT_EQ(loops[1].predicted, 200);
  EXPECT_NEAR(*loops[1].stall_percent, 20, 1e-9);
  ASSERT_TRUE(loops[0].cause);
  EXPECT_TRUE(has(*loops[0].cause, "2 workers made the batches; 4 would load"));
  EXPECT_TRUE(has(*loops[0].cause, "train.py:31: "));
  EXPECT_FALSE(loops[1].cause) << "a restart, of which no causes are looked for";
  EXPECT_TRUE(has(loops[0].environment.libraries, "PyTorch 2.6.0"));
}

TEST(UnitScriptRows, are_drawn_as_those_of_a_bench) {
  const Report report = make_report(script_rows(diagnosed(), machine()));
  ASSERT_EQ(report.studies.size(), 1U);
  const Study& study = report.studies.front();
  EXPECT_EQ(study.title(), "train.py on Set, pytorch, batch 10");
  ASSERT_EQ(study.curves.size(), 1U);
  EXPECT_EQ(study.curves[0].format, "pytorch · DataLoader");
  EXPECT_EQ(study.curves[0].supply.size(), 3U);
  const std::string page = report_html(report);
  for (const char* part :
       {"train.py on Set, pytorch, batch 10", "Time per image", "decode",
        "What limits train.py on Set", "full speed",
        "% of the time. 2 workers made the batches", "A process of PyTorch", ">workers</th>"}) {
    EXPECT_TRUE(has(page, part)) << part;
  }
  for (const char* part : {"--repeat", "which format", "2 loader threads"}) {
    EXPECT_FALSE(has(page, part)) << part << ": a bench's";
  }
}

TEST(UnitScriptRows, loaders_before_and_after_a_swap_are_two_curves) {
  Seen seen = MadeLoop{.workers = 2}.seen();
  SwapSeen& swap = seen.loaders.begin()->second.swap;
  swap.made = Swapped{.name = "loader", .data = "photographs", .threads = 3};
  swap.before = Supplied{.batches = 20, .time = 1};
  swap.after = Supplied{.swapped = true, .batches = 100, .time = 1};
  const std::vector<Row> rows = script_rows(diagnose(seen, {"python", "train.py"}, 4), machine());
  const std::vector<Row> loops = of_kind(rows, delivered_kind);
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].tool, "pytorch+feedrate");
  EXPECT_EQ(loops[0].threads, 3U);
  EXPECT_EQ(of_kind(rows, demand_kind).at(0).tool, "pytorch+feedrate");
  const std::vector<Row> supplied = of_kind(rows, supply_kind);
  ASSERT_EQ(supplied.size(), 2U);
  EXPECT_EQ(supplied[0].tool, "pytorch");
  EXPECT_NEAR(supplied[0].images_per_second, 200, 1e-6);
  EXPECT_EQ(supplied[1].tool, "pytorch+feedrate");
  EXPECT_NEAR(supplied[1].images_per_second, 1000, 1e-6);
  EXPECT_EQ(make_report(rows).studies.front().curves.size(), 2U);
}

TEST(UnitScriptRows, tell_scripts_of_one_name_apart) {
  Diagnosis one = diagnosed(), other = one, again = one;
  one.loops.front().made.where = "/a/train.py:31";
  other.loops.front().made.where = "/b/train.py:31";
  again.loops.front().made.where = "/a/train.py:40";
  const auto digest = [](const Diagnosis& found) {
    return script_rows(found, machine()).front().digest;
  };
  EXPECT_NE(digest(one), digest(other));
  EXPECT_EQ(digest(one), digest(again)) << "a line was added";
}

TEST(UnitScriptRows, are_none_where_nothing_was_measured) {
  EXPECT_TRUE(script_rows(diagnose(Seen{}, {"python", "train.py"}, 4), machine()).empty());
  const Seen few = MadeLoop{.steps = 3}.seen();
  EXPECT_TRUE(script_rows(diagnose(few, {"python", "train.py"}, 4), machine()).empty());
}

}  // namespace
}  // namespace feedrate::tools
