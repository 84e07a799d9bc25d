// What is read from the probe of `feedrate diagnose`. The figures are made up.

#include <gtest/gtest.h>

#include "tools/lab/diagnose/event.h"
#include "tools/lab/diagnose/loop.h"
#include "tools/lab/diagnose/seen.h"

namespace feedrate::tools {
namespace {

TEST(UnitDiagnoseEvent, what_is_no_event_is_left_out) {
  for (const char* line : {"", "{", "[]", "7", R"({"event":"unheard of"})", R"({"event":7})"}) {
    EXPECT_TRUE(std::holds_alternative<std::monostate>(read_event(line).what)) << line;
  }
  const ProbeEvent event = read_event(
      R"({"event":"batch","pid":7,"loader":2,"begin":1000000000,"end":"x","cpu":[],"delay":null})");
  EXPECT_EQ(event.process, 7U);
  EXPECT_EQ(event.loader, 2U);
  const BatchMade& batch = std::get<BatchesMade>(event.what).batches.at(0);
  EXPECT_DOUBLE_EQ(batch.begin, 1);
  EXPECT_EQ(batch.end, 0);
  EXPECT_FALSE(batch.delay);
}

TEST(UnitDiagnoseEvent, steps_come_in_order_and_some_with_more) {
  const ProbeEvent event = read_event(
      R"({"event":"steps","pid":7,"loader":2,"light":[3000000000,4000000000,1000000000,1500000000,9],)"
      R"("full":[[2000000000,2500000000,-1,-1,400000000,7000000000,0],[5],["x",1,2,3,4,5,6]]})");
  const auto& steps = std::get<std::vector<StepBegun>>(event.what);
  ASSERT_EQ(steps.size(), 3U) << "others have another shape";
  EXPECT_DOUBLE_EQ(steps[0].end, 1.5);
  EXPECT_FALSE(steps[0].full);
  EXPECT_TRUE(steps[1].full);
  EXPECT_DOUBLE_EQ(steps[1].cpu, 0.4);
  EXPECT_DOUBLE_EQ(steps[1].process, 7);
  EXPECT_FALSE(steps[1].delay);
  EXPECT_DOUBLE_EQ(steps[2].begin, 3);
}

TEST(UnitDiagnoseEvent, batches_of_a_worker) {
  const ProbeEvent event = read_event(
      R"({"event":"batches","pid":7,"parent":6,"light":[1000000000,2000000000],)"
      R"("full":[[3000000000,5000000000,500000000,16,1000000000,2,8000000,3,4096,1024]]})");
  const auto& made = std::get<BatchesMade>(event.what);
  EXPECT_EQ(made.parent, 6U);
  ASSERT_EQ(made.batches.size(), 2U);
  const BatchMade& full = made.batches[1];
  EXPECT_EQ(full.samples, 16U);
  EXPECT_DOUBLE_EQ(*full.delay, 0.5);
  EXPECT_EQ(full.puts, 2U);
  EXPECT_EQ(full.leaves->at(1), 4096U);
}

TEST(UnitDiagnoseEvent, batches_are_of_the_loader_whose_worker_made_them) {
  Seen seen;
  for (const char* line :
       {R"({"event":"batches","pid":7,"parent":6,"full":[[0,4000000000,-1,16,1000000000,0,0]]})",
        R"({"event":"iterator","pid":6,"loader":1,"workers":[7],"sweep":null})",
        R"({"event":"iterator","pid":6,"loader":2,"workers":[8,9],"sweep":null})",
        R"({"event":"batches","pid":9,"parent":6,"full":[[0,2000000000,-1,16,1000000000,0,0]]})",
        R"({"event":"batches","pid":5,"parent":6,"full":[[0,1000000000,-1,16,1000000000,0,0]]})"}) {
    seen.add(read_event(line));
  }
  seen.finish();
  ASSERT_EQ(seen.loaders.size(), 2U);
  EXPECT_DOUBLE_EQ(service_of(seen.loaders.at({6, 1}).work).wall, 4);
  EXPECT_DOUBLE_EQ(service_of(seen.loaders.at({6, 2}).work).wall, 2);
}

TEST(UnitDiagnoseEvent, loaders_that_are_made_anew_in_each_epoch_are_one) {
  const auto loaders = [](std::vector<std::string> made) {
    Seen seen;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const std::string head = R"(,"pid":6,"loader":)" + std::to_string(i + 1) + ",";
      const std::string second = std::to_string(i + 1), begin = second + "000000000";
      seen.add(read_event(R"({"event":"loader")" + head + made[i] + "}"));
      seen.add(read_event(R"({"event":"epoch")" + head + R"("begin":)" + begin + R"(,"end":)" +
                          begin + "}"));
      seen.add(
          read_event(R"({"event":"steps")" + head + R"("light":[)" + begin + "," + begin + "]}"));
      seen.add(read_event(R"({"event":"end")" + head + R"("begin":)" + std::to_string(i) +
                          "500000000}"));
    }
    seen.finish();
    return seen.loaders;
  };
  const auto one = loaders({R"("where":"a:1","workers":2,"made":1)",
                            R"("where":"a:1","workers":2,"made":1600000000)",
                            R"("where":"a:1","workers":2,"made":2700000000)"});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one.begin()->second.epochs.size(), 3U);
  EXPECT_EQ(one.begin()->second.steps, 3U);
  EXPECT_EQ(one.begin()->second.times_made, 3U);
  EXPECT_EQ(loaders({R"("where":"a:1","made":1)", R"("where":"a:1","made":2)"}).size(), 2U)
      << "both were there from the beginning";
  EXPECT_EQ(loaders({R"("where":"a:1","made":1)", R"("where":"a:2","made":1600000000)"}).size(),
            2U);
  EXPECT_EQ(loaders({R"("where":"a:1","made":1)", R"("where":"a:1","workers":1,"made":1600000000)"})
                .size(),
            2U);
}

TEST(UnitDiagnoseEvent, a_process_that_runs_another_program_has_other_loaders) {
  Seen seen;
  for (const char* line :
       {R"({"event":"hello","pid":6})", R"({"event":"loader","pid":6,"loader":1,"where":"a:1"})",
        R"({"event":"hello","pid":7})", R"({"event":"hello","pid":6})",
        R"({"event":"loader","pid":6,"loader":1,"where":"b:1"})",
        R"({"event":"iterator","pid":6,"loader":1,"workers":[7],"sweep":null})",
        R"({"event":"batches","pid":7,"parent":6,"full":[[0,4000000000,-1,16,1000000000,0,0]]})"}) {
    seen.add(read_event(line));
  }
  seen.finish();
  ASSERT_EQ(seen.loaders.size(), 2U);
  EXPECT_EQ(seen.loaders.begin()->second.made.where, "a:1");
  EXPECT_DOUBLE_EQ(service_of(seen.loaders.rbegin()->second.work).wall, 4);
}

TEST(UnitDiagnoseEvent, spans_of_another_shape_are_left_out) {
  const ProbeEvent event = read_event(
      R"({"event":"batch","pid":7,"samples":4,"spans":{"a":[1,2],"b":[2000000000,1000000000,3]},"read":[1]})");
  const BatchMade& batch = std::get<BatchesMade>(event.what).batches.at(0);
  ASSERT_EQ(batch.spans.size(), 1U);
  EXPECT_DOUBLE_EQ(batch.spans.at("b").wall, 2);
  EXPECT_FALSE(batch.read);
}

}  // namespace
}  // namespace feedrate::tools
