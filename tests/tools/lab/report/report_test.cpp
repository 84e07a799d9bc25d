#include "tools/lab/report/write/output.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/tools/rows.h"

namespace feedrate::tools {
namespace {

Report invented_report() {
  return make_report({testing::demand(6000), testing::supply("lmdb", 1, 700000),
                      testing::delivered("lmdb", 0, 5000, 17),
                      testing::delivered("lmdb", 1, 5900, 1)});
}

TEST(UnitCsv, a_field_is_quoted_only_where_it_must_be) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_field("=HYPERLINK(1)"), "'=HYPERLINK(1)");  // shown, not computed
  EXPECT_EQ(csv_field("-1+2"), "'-1+2");
  EXPECT_EQ(csv_field("-1.5"), "-1.5");
}

TEST(UnitCsv, every_line_has_as_many_fields_as_the_head) {
  const std::string csv = report_csv(invented_report());
  std::size_t lines = 0, first_commas = 0;
  for (std::size_t start = 0; start < csv.size(); ++lines) {
    const std::size_t end = csv.find("\r\n", start);
    ASSERT_NE(end, std::string::npos);
    const auto commas =
        static_cast<std::size_t>(std::count(csv.begin() + static_cast<std::ptrdiff_t>(start),
                                            csv.begin() + static_cast<std::ptrdiff_t>(end), ','));
    if (lines == 0) first_commas = commas;
    EXPECT_EQ(commas, first_commas) << csv.substr(start, end - start);
    start = end + 2;
  }
  EXPECT_EQ(lines, 5U);
}

TEST(UnitReport, the_table_marks_the_chosen_point_and_ends_with_the_verdict) {
  const std::string table = report_text(invented_report());
  EXPECT_NE(table.find("→                   1"), std::string::npos) << table;
  EXPECT_NE(table.rfind("lenet on cpu, fp32, batch 64: 1 loader thread is enough with lmdb × raw. "
                        "The trainer is"),
            std::string::npos)
      << table;
}

TEST(UnitReport, json_carries_the_verdict_and_every_row) {
  const auto object = nlohmann::json::parse(report_json(invented_report()));
  EXPECT_EQ(object.at("rows").size(), 4U);
  const auto& verdict = object.at("studies").at(0).at("verdict");
  EXPECT_EQ(verdict.at("threads"), 1);
  EXPECT_EQ(verdict.at("limit"), "trainer");
}

TEST(UnitReport, json_names_the_same_point_of_a_curve_as_the_verdict) {
  // Loading costs 1 % with 1 thread: more gain nothing.
  const auto object = nlohmann::json::parse(report_json(make_report(
      {testing::demand(6000), testing::spread(testing::delivered("lmdb", 1, 5600, 1), 8),
       testing::delivered("lmdb", 2, 6000, 1)})));
  const auto& study = object.at("studies").at(0);
  EXPECT_EQ(study.at("verdict").at("threads"), 1);
  EXPECT_EQ(study.at("curves").at(0).at("delivered_knee"), 1);
  EXPECT_TRUE(study.at("curves").at(0).at("supply_knee").is_null());
}

TEST(UnitMarkdown, it_holds_the_answer_the_tables_and_the_terms) {
  const std::string text = report_markdown(invented_report());
  for (const char* part :
       {"1 loader thread is enough with lmdb × raw.", "### Measured points\n\n| format |",
        "| **lmdb × raw** (chosen) | 1 |", "### Time per image, by stage",
        "- **Shared cores**: ", "- **Processor**: an invented processor"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(HostileMarkdown, text_in_a_row_stays_text) {
  auto row = testing::supply("lmdb", 1, 700000);
  row.environment.command = "a|b `c` [d](e) <img>\n# f";
  const std::string text = report_markdown(make_report({row}));
  EXPECT_NE(text.find("a\\|b \\`c\\` \\[d\\](e) &lt;img> # f"), std::string::npos) << text;
}

TEST(UnitPage, it_loads_nothing_from_elsewhere) {
  const std::string page = report_html(invented_report());
  for (const char* loads : {"src=", "@import", "<link", "url(", "<script"}) {
    EXPECT_EQ(page.find(loads), std::string::npos) << loads;
  }
  for (const char* place : {"{study}", "{answer}", "{page_css}", "{studies}", "{machine}"}) {
    EXPECT_EQ(page.find(place), std::string::npos) << place;
  }
}

TEST(UnitPage, of_several_studies_the_headline_says_whose_answer_it_is_and_each_has_its_own) {
  auto other = testing::delivered("lmdb", 2, 9000, 1);
  other.network = "mlp";
  const std::string page =
      report_html(make_report({testing::delivered("lmdb", 1, 5900, 1), other}));
  EXPECT_NE(page.find("which format, for lenet on cpu, fp32, batch 64?"), std::string::npos);
  EXPECT_NE(page.find("Summary"), std::string::npos);
  EXPECT_EQ(report_html(invented_report()).find("Summary"), std::string::npos);
}

TEST(HostilePage, text_in_a_row_cannot_leave_its_element_or_take_a_place) {
  auto row = testing::supply("lmdb", 1, 700000);
  row.dataset = "</style><script>alert(1)</script>";
  row.environment.command = "feedrate bench '<i>'";
  row.format = "<b>{page_css}";
  const std::string page = report_html(make_report({row}));
  for (const char* element : {"<script>", "<b>", "<i>"}) {
    EXPECT_EQ(page.find(element), std::string::npos) << element;
  }
  EXPECT_NE(page.find("&lt;b&gt;{page_css}"), std::string::npos);
}

}  // namespace
}  // namespace feedrate::tools
