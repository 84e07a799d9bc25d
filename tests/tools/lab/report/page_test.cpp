// The report's page in a real browser: it draws, and nothing is wrong in its console.

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/run_program.h"
#include "tests/tools/rows.h"
#include "tools/lab/report/write/output.h"

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
       {"which format, for lenet on cpu, fp32, batch 64?",
        "<h1 id=\"answer\">Loading is not the bottleneck: any of the", "Formats side by side",
        "Measured points", "Time per image, by stage", "role=\"img\"", "5,900", "17.0 %",
        "A CPU thread that reads and decodes", "Shared cores"}) {
    EXPECT_NE(dom.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace feedrate::tools
