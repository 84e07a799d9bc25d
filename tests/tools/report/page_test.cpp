// The report's page in a real browser: it draws, and nothing is wrong in its console.

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/run_program.h"
#include "tests/tools/rows.h"
#include "tools/report/write/output.h"

namespace feedrate::tools {
namespace {

using testing::run_program;
using testing::Said;

/// A Chromium by any of its names; "" when there is none.
std::string browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    const Said said = run_program("sh", {"-c", std::string("command -v ") + name});
    if (said.code == 0) return said.output.substr(0, said.output.find('\n'));
  }
  return "";
}

class CommandsPage : public ::testing::Test {
 protected:
  void SetUp() override {
    chromium_ = browser();
    if (chromium_.empty()) GTEST_SKIP() << "no Chromium is installed to look at the page with";
    const Report report = make_report(
        {testing::demand(6000), testing::supply("lmdb", 0, 600000),
         testing::supply("lmdb", 2, 900000), testing::delivered("lmdb", 0, 5000, 17),
         testing::delivered("lmdb", 2, 5900, 1), testing::delivered("png-map", 0, 3000, 50),
         testing::delivered("png-map", 2, 5800, 2)});
    std::ofstream(directory_ / "report.html") << report_html(report);
  }

  Said browse(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"--headless",
                                       "--no-sandbox",
                                       "--disable-gpu",
                                       "--enable-logging=stderr",
                                       "--disable-dev-shm-usage",
                                       "--user-data-dir=" + (directory_ / "profile").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.push_back("file://" + (directory_ / "report.html").string());
    return run_program(chromium_, arguments);
  }

  testing::TempDirectory directory_;
  std::string chromium_;
};

TEST_F(CommandsPage, it_draws_without_a_word_in_the_console) {
  const auto picture = directory_ / "page.png";
  const Said said = browse({"--screenshot=" + picture.string(), "--window-size=1280,1600"});
  EXPECT_EQ(said.code, 0) << said.errors;
  EXPECT_EQ(said.errors.find("CONSOLE"), std::string::npos) << said.errors;
  // A blank page of this size is a tenth of it.
  EXPECT_GT(std::filesystem::file_size(picture), 60'000U);
}

TEST_F(CommandsPage, its_tables_say_what_its_charts_show) {
  const std::string dom = browse({"--dump-dom"}).output;
  for (const char* part :
       {"How many loader threads, and which format?", "<h1 id=\"answer\">2 loader threads",
        "Formats side by side", "The points of the curves", "role=\"img\"", "5,900", "17.0 %"}) {
    EXPECT_NE(dom.find(part), std::string::npos) << part;
  }
}

TEST_F(CommandsPage, its_script_counts_the_rows_and_lets_each_chart_be_saved) {
  const std::string dom = browse({"--dump-dom"}).output;
  EXPECT_NE(dom.find("7 of 7 rows"), std::string::npos);
  for (const char* kind : {"SVG", "PNG", "CSV"}) {
    const std::string button = std::string("aria-label=\"Save Delivered as ") + kind;
    EXPECT_NE(dom.find(button), std::string::npos) << kind;
  }
}

TEST_F(CommandsPage, its_filter_shows_the_rows_that_hold_every_word) {
  // What a person would type, typed by a script of the test's own.
  std::ofstream(directory_ / "report.html", std::ios::app)
      << "<script>const words = document.getElementById('words'); words.value = 'delivered LMDB 2';"
         "words.dispatchEvent(new Event('input'));</script>";
  const std::string dom = browse({"--dump-dom"}).output;
  EXPECT_NE(dom.find("1 of 7 rows"), std::string::npos);
}

TEST_F(CommandsPage, its_buttons_save_each_chart_as_svg_picture_and_figures) {
  // Instead of a file, what would be saved is written down in the page.
  std::ofstream(directory_ / "report.html", std::ios::app)
      << "<script>URL.createObjectURL = (blob) => { document.body.append('saved ' + blob.type + ' "
         "' +"
         "(blob.size > 150 ? 'whole' : 'empty') + ';'); return '#'; };"
         "document.querySelectorAll('figure:first-of-type button').forEach((one) => one.click());"
         "</script>";
  const std::string dom = browse({"--virtual-time-budget=10000", "--dump-dom"}).output;
  for (const char* saved :
       {"saved image/svg+xml whole;", "saved image/png whole;", "saved text/csv whole;"}) {
    EXPECT_NE(dom.find(saved), std::string::npos) << saved;
  }
}

}  // namespace
}  // namespace feedrate::tools
