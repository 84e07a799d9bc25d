#include "tools/lab/report/draw/charts.h"

#include <gtest/gtest.h>

#include "tests/support/in_text.h"
#include "tests/tools/invented_rows.h"
#include "tools/lab/report/draw/axis.h"
#include "tools/lab/report/draw/bar_chart.h"
#include "tools/lab/report/draw/line_chart.h"
#include "tools/lab/report/write/output.h"

namespace feedrate::tools {
namespace {

TEST(UnitAxis, ticks_are_even_round_and_reach_the_largest_value) {
  EXPECT_EQ(even_ticks(1000), (std::vector<double>{0, 200, 400, 600, 800, 1000}));
  EXPECT_EQ(even_ticks(0.07), (std::vector<double>{0, 0.02, 0.04, 0.06, 0.08}));
  for (const double max_value : {1e-9, 3.3, 47.0, 999.0, 1001.0, 2.5e6}) {
    const auto ticks = even_ticks(max_value);
    EXPECT_GE(ticks.back(), max_value * (1 - 1e-9));
    EXPECT_LE(ticks.size(), 7U) << max_value;
    EXPECT_GE(ticks.size(), 4U) << max_value;
  }
  EXPECT_EQ(even_ticks(0).size(), 6U);
}

TEST(UnitAxis, quantities_are_short) {
  EXPECT_EQ(short_quantity(0), "0");
  EXPECT_EQ(short_quantity(0.25), "0.25");
  EXPECT_EQ(short_quantity(5900), "5,900");
  EXPECT_EQ(short_quantity(3571.4), "3,571");
  EXPECT_EQ(short_quantity(47.25), "47.2");
  EXPECT_EQ(short_quantity(12500), "12.5 k");
  EXPECT_EQ(short_quantity(1250000), "1.25 M");
}

TEST(UnitSvg, text_in_it_is_escaped) {
  Svg svg({100, 50}, "a & b", "<none>");
  svg.text({1, 2}, "middle", "strong", "x < \"y\"");
  svg.mark({10, 10}, 7, "s1 mark", "said");
  EXPECT_TRUE(testing::has(svg.markup(), "x &lt; &quot;y&quot;")) << svg.markup();
  EXPECT_TRUE(testing::has(svg.markup(), "<title>said</title>"));
}

TEST(UnitBarChart, parts_follow_each_other_and_are_named_once) {
  const BarChart chart{.title = "t",
                       .unit = "µs",
                       .bars = {{"a & b", {{"read", 30, 0}, {"decode", 50, 1}, {"late", 20, 7}}},
                                {"c", {{"decode", 40, 1}}}}};
  const std::string drawn = draw(chart).markup();
  for (const char* part : {"a &amp; b", "s0 part", "s1 part pale", "<title>decode 50.0 µs</title>",
                           "c: decode 40.0 µs", "M8.0 27.0L104.0 27.0", "M104.0 27.0L264.0 27.0"}) {
    EXPECT_TRUE(testing::has(drawn, part)) << part << " in " << drawn;
  }
  std::size_t names = 0;  // in the legend
  for (std::size_t at = drawn.find(">decode</text>"); at != std::string::npos;
       at = drawn.find(">decode</text>", at + 1)) {
    ++names;
  }
  EXPECT_EQ(names, 1U);
}

TEST(UnitLineChart, demand_ring_and_prediction_are_drawn_if_given) {
  LineChart chart{.title = "t",
                  .x_title = "x",
                  .y_title = "y",
                  .series = {{.name = "a", .dots = {{.x = 0, .y = 1}, {.x = 1, .y = 2}}}}};
  const std::string plain = draw(chart).markup();
  for (const char* part : {"demand", "ring", "predicted", "NaN", "nan", "inf"}) {
    EXPECT_FALSE(testing::has(plain, part)) << part;
  }
  chart.demand = 3;
  chart.ring = At{1, 2};
  chart.series[0].predicted = {{0, 1}, {1, 2.1}};
  const std::string full = draw(chart).markup();
  for (const char* part : {"demand 3", "class=\"ring\"", "s0 predicted"}) {
    EXPECT_TRUE(testing::has(full, part)) << part;
  }
}

TEST(UnitLineChart, tooltips_and_the_description_give_the_values) {
  const LineChart chart{.title = "Stall",
                        .x_title = "loader threads",
                        .y_title = "%",
                        .series = {{.name = "lmdb", .dots = {{.x = 1, .y = 8}, {.x = 2, .y = 3}}}}};
  const std::string drawn = draw(chart).markup();
  EXPECT_TRUE(
      testing::has(drawn, "aria-label=\"Stall. % over loader threads. lmdb: 3.00 % at 2 loader"));
  EXPECT_TRUE(testing::has(drawn, "<title>lmdb: 8.00 % at 1 loader threads</title>")) << drawn;
}

TEST(UnitLineChart, the_legend_takes_as_many_lines_as_the_names_need) {
  LineChart chart{.title = "t", .x_title = "x", .y_title = "y"};
  const auto height = [&] {
    const std::string drawn = draw(chart).markup();
    return std::stod(drawn.substr(drawn.find("height=\"") + 8));
  };
  chart.series = {{.name = "lmdb", .dots = {{.x = 1, .y = 8}}}};
  const double one = height();
  chart.series.push_back({.name = "raw", .dots = {{.x = 1, .y = 8}}});
  EXPECT_EQ(height(), one);
  chart.series.push_back(
      {.name = "pytorch · webdataset × packed, cold", .dots = {{.x = 1, .y = 8}}});
  EXPECT_GT(height(), one);
}

TEST(UnitLineChart, a_single_point_is_drawn) {
  const LineChart chart{.title = "t",
                        .x_title = "x",
                        .y_title = "y",
                        .series = {{.name = "a", .dots = {{.x = 3, .y = 0}}}}};
  EXPECT_FALSE(testing::has(draw(chart).markup(), "nan"));
}

TEST(UnitCharts, a_whole_bench_has_every_chart) {
  const Report report = make_report(testing::invented_bench());
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    const auto charts = study_charts(report.studies[i], report.verdicts[i]);
    std::vector<std::string> names;
    for (const Chart& chart : charts) {
      names.push_back(chart.title);
      EXPECT_FALSE(testing::has(chart.svg.markup(), "nan")) << chart.title;
    }
    EXPECT_EQ(names, (std::vector<std::string>{"Delivered", "Supply", "Stall", "Time per image"}));
  }
}

TEST(UnitCharts, only_what_was_measured_is_drawn) {
  const Report supplied = make_report({testing::supply("lmdb", 1, 1000)});
  EXPECT_EQ(study_charts(supplied.studies[0], supplied.verdicts[0]).size(), 1U);
  const Report demanded = make_report({testing::demand(1000)});
  EXPECT_TRUE(study_charts(demanded.studies[0], demanded.verdicts[0]).empty());
}

}  // namespace
}  // namespace feedrate::tools
