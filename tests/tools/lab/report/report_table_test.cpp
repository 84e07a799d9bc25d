#include "tools/lab/report/write/table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tools/invented_rows.h"
#include "tools/console/bars.h"
#include "tools/lab/report/write/output.h"
#include "tools/lab/report/write/study_tables.h"

namespace feedrate::tools {
namespace {

const Table invented{.title = "a title",
                     .heads = {"format", "images per second"},
                     .rows = {{.cells = {"lmdb × raw", "5,900"}, .series = 0, .chosen = true},
                              {.cells = {"a <b>", "–"}}}};

TEST(UnitTable, on_a_terminal_numbers_are_aligned_right_and_the_chosen_row_has_an_arrow) {
  EXPECT_EQ(table_text(invented),
            "  format      images per second\n"
            "→ lmdb × raw              5,900\n"
            "  a <b>                       –\n");
}

TEST(UnitTable, on_a_terminal_a_wide_table_continues_below_with_its_names) {
  EXPECT_EQ(table_text({.heads = {"format", "threads", "limit"},
                        .rows = {{.cells = {"lmdb", "1", "a trainer"}},
                                 {.cells = {"lmdb", "16", "cores"}}}},
                       18),
            "  format  threads\n"
            "  lmdb          1\n"
            "               16\n"
            "  format  limit\n"
            "  lmdb    a trainer\n"
            "          cores\n");
}

TEST(UnitTable, on_a_terminal_no_head_is_cut_and_no_two_names_are_cut_alike) {
  const std::string before = "lmdb × jpeg (a/folder/", behind = "/in/another/with/a/long/name)";
  EXPECT_EQ(
      table_text({.heads = {"format", "resnet50 on emulated h100, fed by A Processor, 2 cores"},
                  .rows = {{.cells = {before + "1" + behind, "3"}},
                           {.cells = {before + "2" + behind, "4"}}}}),
      "                                                  resnet50 on emulated h100, fed\n"
      "  format                                                 by A Processor, 2 cores\n"
      "  lmdb × jpeg (a/folder/1…ther/with/a/long/name)                               3\n"
      "  lmdb × jpeg (a/folder/2…ther/with/a/long/name)                               4\n");
}

TEST(UnitTable, empty_columns_are_dropped) {
  const Table table = without_empty_columns(
      {.heads = {"format", "stall", "GPU W"},
       .rows = {{.cells = {"lmdb", "–", "–"}}, {.cells = {"recordio", "1.0 %", "–"}}}});
  EXPECT_EQ(table.heads, (std::vector<std::string>{"format", "stall"}));
  EXPECT_EQ(table.rows[1].cells, (std::vector<std::string>{"recordio", "1.0 %"}));
}

TEST(UnitTable, on_a_page_text_is_escaped_and_aligned_left) {
  const std::string html = table_html(invented);
  EXPECT_NE(html.find("a &lt;b&gt;"), std::string::npos) << html;
  EXPECT_NE(html.find("<th scope=\"col\" class=\"text\">format</th>"), std::string::npos) << html;
  EXPECT_NE(html.find("<td>–</td>"), std::string::npos) << html;
  EXPECT_NE(html.find("<tr class=\"s0 chosen\">"), std::string::npos) << html;
}

TEST(UnitTable, a_whole_report_keeps_to_100_columns) {
  const std::string text = report_text(make_report(testing::invented_bench()));
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    EXPECT_LE(columns_of(text.substr(start, end - start)), 100U) << text.substr(start, end - start);
    start = end + 1;
  }
}

TEST(UnitTables, formats_of_a_server_show_what_its_requests_cost) {
  std::vector<Row> rows = testing::invented_bench();
  for (Row& row : rows) {
    if (is_trainer_alone(row.kind)) continue;
    row.remote = ServerWork{.requests = 100,
                            .repeated = 7,
                            .connections = 32,
                            .median_seconds = 0.0421,
                            .p99_seconds = 0.3,
                            .cpu_seconds = 91e-6};
  }
  const Report report = make_report(rows);
  const Table table = formats_table(report.studies[0], report.verdicts[0]);
  const auto cell = [&](std::string_view head) {
    const auto at = std::ranges::find(table.heads, head) - table.heads.begin();
    return table.rows[0].cells.at(static_cast<std::size_t>(at));
  };
  EXPECT_EQ(cell("request ms"), "42.1");
  EXPECT_EQ(cell("request p99 ms"), "300");
  EXPECT_EQ(cell("request CPU µs"), "91.0");
  EXPECT_EQ(cell("retries"), "7");
  EXPECT_EQ(cell("connections"), "32");
}

TEST(UnitTables, formats_show_what_they_cost_and_only_what_was_measured) {
  const Report report = make_report(testing::invented_bench());
  ASSERT_EQ(report.studies.size(), 2U);
  const auto heads = [&](std::size_t i) {
    return formats_table(report.studies[i], report.verdicts[i]).heads;
  };
  const auto has = [](const std::vector<std::string>& list, const char* head) {
    return std::ranges::find(list, head) != list.end();
  };
  for (const char* head : {"CPU mJ", "planned MiB", "GPU used MiB", "GPU W", "GPU mJ"}) {
    EXPECT_FALSE(has(heads(0), head)) << head;
    EXPECT_TRUE(has(heads(1), head)) << head;
  }
  for (const char* head : {"95 % interval", "best supply", "CPU µs", "peak MiB"}) {
    EXPECT_TRUE(has(heads(0), head)) << head;
  }
}

TEST(UnitTables, a_format_that_was_never_trained_is_shown_with_its_supply) {
  const auto studies =
      make_studies({testing::demand(1000), testing::delivered("lmdb", 1, 990, 1),
                    testing::supply("lmdb", 1, 5000), testing::supply("recordio", 2, 7000)});
  const Table table = formats_table(studies.front(), judge(studies.front()));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[1].cells,
            (std::vector<std::string>{"recordio × raw", "–", "–", "–", "–", "–", "7,000"}));
}

TEST(UnitTables, fewer_than_three_repeats_have_no_interval_and_one_has_no_spread) {
  const auto with = [](std::vector<double> repeats) {
    tools::Row row = testing::delivered("lmdb", 1, 1000, 1);
    row.repeats = std::move(repeats);
    const auto studies = make_studies({row});
    const StudyVerdict verdict = judge(studies.front());
    const auto cell = [](const Table& table, const char* head) -> std::string {
      const auto at = std::ranges::find(table.heads, head);
      if (at == table.heads.end()) return "no column";
      return table.rows.front().cells[static_cast<std::size_t>(at - table.heads.begin())];
    };
    return std::vector{cell(points_table(studies.front(), verdict), "spread"),
                       cell(formats_table(studies.front(), verdict), "95 % interval"),
                       spread_text(studies.front().curves.front().delivered.front())};
  };
  using Cells = std::vector<std::string>;
  EXPECT_EQ(with({1000}), (Cells{"no column", "no column", "unknown from one repeat"}));
  EXPECT_EQ(with({990, 1010}), (Cells{"2.0 %", "990 and 1,010", "2.0 %"}));
  EXPECT_EQ(with({990, 1000, 1010}), (Cells{"2.0 %", "975–1,025", "2.0 %"}));
}

}  // namespace
}  // namespace feedrate::tools
