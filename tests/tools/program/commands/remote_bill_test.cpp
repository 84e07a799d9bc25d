// What 'feedrate advise URL' tells of requests, bytes and their price, with the real binary.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "formats/io/file.h"
#include "tests/support/make_jpeg.h"
#include "tests/support/make_mds.h"
#include "tests/support/run_program.h"
#include "tests/tools/program/commands/remote_fixture.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::feedrate;
using testing::make_examples;
using testing::Said;
using testing::ServedRequest;
using testing::write_dataset;

// Each range takes 4 ms: 250 images or 250 blocks of a MiB a second, at most.
TEST_F(CommandsRemote, advise_chooses_how_to_read) {
  write_dataset(container("recordio"), png_codec, root_ / "large",
                make_examples({200, 200, 3}, 48));
  slow_down(4ms);
  const auto advised = [&](const char* target, const std::vector<std::string>& more) {
    std::vector<std::string> words{"advise",        server_.url() + "/large/",
                                   "--target",      target,
                                   "--connections", "1",
                                   "--batch",       "2",
                                   "--seconds",     "0.1"};
    words.insert(words.end(), more.begin(), more.end());
    const Said said = feedrate(words);
    EXPECT_EQ(said.code, exit_done) << said.errors;
    return said.output;
  };
  const std::string at_rest = advised("20", {}), hurried = advised("100000", {});
  EXPECT_NE(at_rest.find("Read it where it lies"), std::string::npos) << at_rest;
  EXPECT_NE(hurried.find("copy it to this machine first"), std::string::npos) << hurried;
  const auto reading = json::parse(advised("600", {"--json"})).at("reading");
  EXPECT_EQ(reading.at("way"), "blocks") << reading;
  EXPECT_EQ(reading.at("shuffle_blocks"), 19) << reading;
}

TEST_F(CommandsRemote, advise_tells_the_bill) {
  const auto advised = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"advise", url(), "--target", "10", "--seconds", "0.1"};
    words.insert(words.end(), more.begin(), more.end());
    const Said said = feedrate(words);
    EXPECT_EQ(said.code, exit_done) << said.errors;
    return said.output;
  };
  const auto bill =
      json::parse(advised({"--json", "--request-price", "2", "--transfer-price", "1000"}))
          .at("bill");
  EXPECT_EQ(bill.at("requests"), 40);
  EXPECT_GT(bill.at("bytes"), 10'000);
  EXPECT_EQ(bill.at("blocks"), 1);
  EXPECT_NEAR(bill.at("price"), 0.08 + 1e-6 * bill.at("bytes").get<double>(), 1e-6);
  EXPECT_GT(bill.at("seconds_per_request"), 0);
  const std::string text = advised({});
  EXPECT_NE(text.find("An epoch asks the server for 40 ranges"), std::string::npos) << text;
  EXPECT_NE(text.find("--request-price"), std::string::npos) << text;
}

// What it says is what the server is asked for: blocks of each file, and files that come as a whole but once.
TEST_F(CommandsRemote, the_bill_counts_what_the_server_is_asked_for) {
  ASSERT_EQ(feedrate({"convert", "dataset", local(), "--to", "webdataset", "--shards", "3", "--out",
                      (root_ / "tars").string()})
                .code,
            exit_done);
  std::vector<std::vector<testing::MdsRow>> shards(3);
  for (std::uint32_t i = 0; i < 9; ++i) {
    const Buffer jpeg = testing::make_jpeg({}, 20, 16, Buffer(20 * 16 * 3, std::byte{9}));
    shards[i % 3].push_back({{reinterpret_cast<const char*>(jpeg.data()), jpeg.size()}, i});
  }
  testing::make_mds(root_ / "mds", shards);
  for (const auto& [name, requests] : {std::pair("tars", 40U), std::pair("mds", 3U)}) {
    const std::string place = server_.url() + "/" + name + "/";
    const Said said = feedrate({"advise", place, "--target", "10", "--seconds", "0.1", "--json"});
    ASSERT_EQ(said.code, exit_done) << said.errors;
    const auto bill = json::parse(said.output).at("bill");
    EXPECT_EQ(bill.at("requests"), requests) << name;
    EXPECT_EQ(bill.at("blocks"), 3) << name;
    EXPECT_EQ(bill.at("at_opening"), std::string(name) == "mds");
    const auto asked = [&](const std::vector<std::string>& more) {
      const std::size_t before = server_.requests().size();
      std::vector<std::string> words{"load", place, "--batch", "4", "--no-digest"};
      words.insert(words.end(), more.begin(), more.end());
      EXPECT_EQ(feedrate(words).code, exit_done);
      std::uint64_t all = 0, of_data = 0;
      for (const ServedRequest& request : server_.requests()) {
        if (request.number < before || !request.headers.contains("range")) continue;
        ++all;
        of_data += request.path.ends_with(".tar") || request.path.ends_with(".mds") ? 1 : 0;
      }
      return std::pair(all, of_data);
    };
    const auto [all, of_data] = asked({});
    const auto opening = bill.at("opening_requests").get<std::uint64_t>();
    if (bill.at("at_opening")) {
      EXPECT_EQ(of_data, requests);
      EXPECT_EQ(all, opening);
    } else {
      EXPECT_EQ(all, opening + requests);
    }
    EXPECT_EQ(asked({"--cache-dir", (root_ / "kept").string()}).second, 3U) << name;
  }
}

TEST_F(CommandsRemote, advise_tells_what_the_server_permits_devices_that_are_elsewhere) {
  const Said said = feedrate(
      {"advise", url(), "--network", "lenet", "--for", "h100", "--seconds", "0.1", "--json"});
  ASSERT_EQ(said.code, exit_done) << said.errors;
  const json permits = json::parse(said.output).at("feeding").at("permits");
  const auto count = [&](std::string_view part) {
    return std::ranges::count_if(permits, [&](const json& one) { return one.at("part") == part; });
  };
  EXPECT_EQ(count("network"), 1) << said.output;
  EXPECT_EQ(count("storage"), 0) << said.output;
}

}  // namespace
}  // namespace feedrate::tools
