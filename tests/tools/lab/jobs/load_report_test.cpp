// What `feedrate load` prints. The figures are made up.

#include "tools/lab/jobs/load_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace feedrate::tools {
namespace {

using nlohmann::json;

/// 240 images, of which 64 lay ready; the rest took 0.22 s.
LoadReport report() {
  LoadReport made;
  made.threads = 1;
  made.stats.workers_seen = 1;
  made.epochs = 0.5;
  made.result.images = 240;
  made.result.batches = 15;
  made.result.seconds = made.result.timed_seconds = 0.22;
  made.result.ready_images = 64;
  made.result.timed_images = 176;
  made.result.demand = 820;
  return made;
}

bool says(const LoadReport& made, const std::string& words) {
  return made.text().find(words) != std::string::npos;
}

TEST(UnitLoadReport, the_rate_is_the_quotient_of_the_numbers_beside_it) {
  const LoadReport made = report();
  EXPECT_TRUE(made.text().starts_with(
      "800 images/s: 176 images in 220.0 ms (0.50 epochs), 1 loader thread\n"))
      << made.text();
  EXPECT_TRUE(
      says(made, "  240 images in all; 64 prefetched before the clock started are not counted\n"))
      << made.text();
  const json object = json::parse(made.json());
  EXPECT_EQ(object.at("images"), 240);
  EXPECT_EQ(object.at("timed_images"), 176);
  EXPECT_EQ(object.at("timed_seconds"), 0.22);
  EXPECT_EQ(object.at("images_per_second"), 800);
  EXPECT_EQ(object.at("ready_images"), 64);
  EXPECT_FALSE(object.at("from_start"));
  EXPECT_TRUE(object.at("rate_unknown").is_null());
}

TEST(UnitLoadReport, says_which_images_came_while_the_rate_was_settling) {
  LoadReport made = report();
  made.result.warmup_seconds = 0.12;
  made.result.timed_images = 80;
  made.result.timed_seconds = 0.1;
  EXPECT_TRUE(says(made, "800 images/s: 80 images in 100.0 ms"));
  EXPECT_TRUE(
      says(made,
           "  240 images in all; 160 of the first 120.0 ms are not counted, because the rate was "
           "settling\n"))
      << made.text();
}

TEST(UnitLoadReport, says_that_a_short_run_is_measured_from_its_start) {
  LoadReport made = report();
  made.result.from_start = true;
  made.result.ready_images = 0;
  made.result.timed_images = 240;
  made.result.batches = 4;
  EXPECT_TRUE(
      says(made, "  measured from the start of the loader, because the run took 4 batches only\n"))
      << made.text();
}

TEST(UnitLoadReport, says_why_there_is_no_rate) {
  LoadReport made = report();
  made.result.batches = 1;
  EXPECT_TRUE(made.text().starts_with(
      "rate unknown, one batch is too few: 240 images in 220.0 ms (0.50 epochs), "))
      << made.text();
  EXPECT_FALSE(says(made, "not counted"));
  const json object = json::parse(made.json());
  EXPECT_TRUE(object.at("images_per_second").is_null());
  EXPECT_EQ(object.at("rate_unknown"), "one batch is too few");
}

TEST(UnitLoadReport, without_a_trainer_it_says_where_loading_time_goes) {
  LoadReport made = report();
  made.stats.images = 240;
  made.stats.busy_read = 0.1;
  made.stats.busy_decode = 0.3;
  EXPECT_TRUE(says(made, "  decoding takes 75 % of loading time\n")) << made.text();
}

TEST(UnitLoadReport, says_how_many_cores_feed_an_emulated_trainer) {
  LoadReport made = report();
  made.stats.images = 240;
  made.stats.busy_decode = 0.22;
  made.stats.alive_seconds = 0.22;
  made.result.accelerator_utilisation = 0.32;
  made.result.demand = 2500;
  made.result.cpu_seconds = 0.264;  // 1.1 ms for an image
  EXPECT_TRUE(
      says(made, "  This machine reaches 32 % of 2,500 images/s. Feeding it takes about 3 cores."))
      << made.text();
  made.result.demand = 820;
  EXPECT_TRUE(says(made, "  1 loader thread is enough: 820 images/s take about 0.9 cores.\n"))
      << made.text();
}

TEST(UnitLoadReport, without_a_rate_says_nothing_of_the_limit) {
  LoadReport made = report();
  made.result.accelerator_utilisation = 0.9;
  made.stats.images = 240;
  made.stats.busy_read = 0.1;
  made.stats.alive_seconds = 0.22;
  made.result.batches = 1;
  EXPECT_TRUE(says(made, "  The limit is unclear: ")) << made.text();
  EXPECT_FALSE(says(made, "enough"));
  const json object = json::parse(made.json());
  EXPECT_EQ(object.at("limit"), "unknown");
  EXPECT_TRUE(object.at("supply").is_null());
  EXPECT_TRUE(object.at("demand").is_null());
}

TEST(UnitLoadReport, a_search_may_have_tried_more_threads_than_it_ended_with) {
  LoadReport made = report();
  made.tuning = loader::Tuning{.threads = 1, .tried = {}};
  made.stats.workers_seen = 2;
  EXPECT_TRUE(says(made, ", 1 loader thread\n")) << made.text();
  made.tuning.reset();
  made.threads = 0;
  EXPECT_TRUE(says(made, ", no loader threads\n")) << made.text();
}

}  // namespace
}  // namespace feedrate::tools
