#include "tools/report/write/table.h"

#include <gtest/gtest.h>

#include "tests/tools/invented_rows.h"
#include "tools/cli/bars.h"
#include "tools/report/draw/rate_bars.h"
#include "tools/report/write/output.h"

namespace feedrate::tools {
namespace {

const Table invented{.title = "a title",
                     .note = "",
                     .columns = {{"format", Table::Align::left}, {"images per second"}},
                     .rows = {{.cells = {"lmdb × raw", "5,900"}, .series = 0, .chosen = true},
                              {.cells = {"a <b>", "–"}}}};

TEST(UnitTable, on_a_terminal_figures_stand_below_each_other_and_the_chosen_row_has_its_arrow) {
  EXPECT_EQ(table_text(invented),
            "              images per\n"
            "  format          second\n"
            "→ lmdb × raw       5,900\n"
            "  a <b>                –\n");
}

TEST(UnitTable, on_a_page_text_is_escaped_and_absence_is_marked) {
  const std::string html = table_html(invented);
  EXPECT_NE(html.find("a &lt;b&gt;"), std::string::npos) << html;
  EXPECT_NE(html.find("<td class=\"none\">–</td>"), std::string::npos) << html;
  EXPECT_NE(html.find("<tr class=\"chosen\">"), std::string::npos) << html;
}

TEST(UnitTable, as_csv_numbers_are_numbers_and_absence_is_empty) {
  EXPECT_EQ(table_csv(invented), "format,images per second\r\nlmdb × raw,5900\r\na <b>,\r\n");
}

TEST(UnitTable, a_whole_report_keeps_to_100_columns) {
  const std::string text = report_text(make_report(testing::invented_bench()));
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    EXPECT_LE(columns_of(text.substr(start, end - start)), 100U) << text.substr(start, end - start);
    start = end + 1;
  }
}

TEST(UnitTable, bars_grow_with_the_rate_and_show_demand_and_supply) {
  const auto studies = make_studies(
      {testing::demand(1000), testing::supply("lmdb", 1, 900), testing::supply("lmdb", 2, 9000),
       testing::delivered("lmdb", 1, 500, 40), testing::delivered("lmdb", 2, 990, 1)});
  const std::string bars = rate_bars(studies.front(), judge(studies.front()));
  EXPECT_NE(bars.find("◦"), std::string::npos) << bars;
  EXPECT_NE(bars.find("▸"), std::string::npos) << bars;
  EXPECT_NE(bars.find("│"), std::string::npos) << bars;
  EXPECT_NE(bars.find("→  2"), std::string::npos) << bars;
}

TEST(UnitTable, nothing_measured_draws_no_bars) { EXPECT_EQ(rate_bars(Study{}, Verdict{}), ""); }

}  // namespace
}  // namespace feedrate::tools
