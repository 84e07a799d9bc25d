// The rates of devices that are not here, and how many cores feed them.

#include "tools/lab/advise/published_rate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"
#include "tools/lab/advise/device_demand.h"
#include "tools/lab/advise/feeding.h"
#include "tools/program/cli/command.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {
namespace {

using namespace testing;

const std::vector<PublishedRate> made_up = {
    {.device = "Fast", .network = "resnet50", .images_per_second = 1000},
    {.device = "Fast", .network = "resnet50", .precision = "mixed", .images_per_second = 3000},
    {.device = "Fast", .network = "resnet50", .devices = 8, .images_per_second = 20'000},
    {.device = "many", .network = "resnet50", .devices = 2, .images_per_second = 100}};

TEST(UnitPublishedRates, each_has_a_known_network_a_date_and_a_source) {
  EXPECT_GE(published_rates().size(), 10U);
  for (const PublishedRate& rate : published_rates()) {
    EXPECT_NO_THROW(trainer::network(rate.network));
    EXPECT_GT(rate.images_per_second, 0);
    EXPECT_EQ(rate.date.size(), 7U) << rate.device;
    EXPECT_FALSE(rate.source.empty()) << rate.device;
  }
}

TEST(UnitPublishedRates, devices_are_a_name_and_a_number) {
  EXPECT_EQ(parse_devices("FAST", made_up).name, "fast");
  EXPECT_EQ(parse_devices("fast", made_up).count, 1U);
  EXPECT_EQ(parse_devices("fastx8", made_up).count, 8U);
  for (const char* wrong : {"fastx0", "fastx", "fastx-1", "fastx8x", "fats", "", "x8"})
    expect_error([&] { parse_devices(wrong, made_up); }, {"no device", "fast, many"});
}

TEST(UnitPublishedRates, the_fastest_of_as_many_devices_counts_else_that_of_one) {
  EXPECT_EQ(demand_of({"fast", 1}, "resnet50", made_up).images_per_second, 3000);
  const DeviceDemand eight = demand_of({"fast", 8}, "resnet50", made_up);
  EXPECT_EQ(eight.images_per_second, 20'000);
  EXPECT_FALSE(eight.scaled);
  const DeviceDemand four = demand_of({"fast", 4}, "resnet50", made_up);
  EXPECT_EQ(four.images_per_second, 12'000);
  EXPECT_TRUE(four.scaled);
  EXPECT_FALSE(four.estimate);
}

TEST(UnitPublishedRates, of_another_network_it_is_estimated_by_multiply_adds) {
  const DeviceDemand vgg = demand_of({"fast", 1}, "vgg16", made_up);
  ASSERT_TRUE(vgg.estimate);
  EXPECT_EQ(vgg.from.network, "resnet50");
  EXPECT_NEAR(vgg.images_per_second, 3000 * 4.1 / 15.5, 20);  // billions of multiply-adds
  expect_error([] { demand_of({"many", 1}, "vgg16", made_up); }, {"one many", "--rates FILE"});
}

TEST(UnitPublishedRates, of_a_network_that_another_device_trained_it_is_estimated_in_proportion) {
  std::vector<PublishedRate> rates = made_up;
  const auto add = [&](const char* device, const char* network, double rate, const char* source) {
    rates.push_back(
        {.device = device, .network = network, .images_per_second = rate, .source = source});
  };
  add("old", "resnet50", 100, "a page");
  add("old", "vgg16", 70, "a page");
  add("old", "lenet", 9000, "another page");  // beside which it trained nothing
  const DeviceDemand vgg = demand_of({"fast", 1}, "vgg16", rates);
  EXPECT_NEAR(vgg.images_per_second, 3000 * 0.7, 1e-9);
  EXPECT_DOUBLE_EQ(vgg.estimate.value().doubt, 5);
  EXPECT_EQ(estimate_text(vgg, "vgg16"),
            "from the 3,000 of resnet50 (--rates: mixed), and as vgg16 is to it on old (a page)");
  EXPECT_EQ(demand_of({"fast", 1}, "lenet", rates).estimate.value().like.device, "Fast");
}

TEST(UnitPublishedRates, each_is_found_by_its_estimate_where_it_is_hidden) {
  unsigned hidden = 0;
  for (const PublishedRate& rate : published_rates()) {
    if (rate.devices != 1) continue;
    std::vector<PublishedRate> others(published_rates().begin(), published_rates().end());
    std::erase_if(others, [&](const PublishedRate& one) {
      return one.device == rate.device && one.network == rate.network;
    });
    const Devices device{device_key(rate.device), 1};
    if (std::ranges::none_of(others, [&](const PublishedRate& one) {
          return device_key(one.device) == device.name && one.devices == 1;
        })) {
      continue;  // the only network of its device
    }
    const DeviceDemand found = demand_of(device, rate.network, others);
    const double ratio = found.images_per_second / rate.images_per_second;
    EXPECT_LE(std::max(ratio, 1 / ratio), found.estimate.value().doubt)
        << rate.device << ", " << rate.network << ": " << found.images_per_second;
    ++hidden;
  }
  EXPECT_GE(hidden, 12U);
}

TEST(HostilePublishedRates, a_file_that_is_wrong_is_told_with_its_entry) {
  const TempDirectory directory;
  const auto file = directory / "rates.json";
  const std::string good = R"({"device": "a", "network": "lenet", "images_per_second": 5})";
  formats::write_text(file, "[" + good + "]");
  EXPECT_EQ(read_rates(file).at(0).images_per_second, 5);
  formats::write_text(file,
                      R"([{"device": "RTX4090", "network": "lenet", "images_per_second": 5}])");
  EXPECT_EQ(parse_devices("rtx4090", read_rates(file)).count, 1U);
  const std::pair<std::string, std::string> wrong[] = {
      {"", "line 1, column 1"},
      {R"([{"device": "a", "device": "b", "network": "lenet", "images_per_second": 5}])",
       R"(key "device" appears twice)"},
      {"{}", "expected a list of rates, found object"},
      {"[]", "lists no rate"},
      {"[" + good + R"(, {"device": "b"}])", "entry 2: "},
      {R"([{"device": "", "network": "lenet", "images_per_second": 5}])",
       "entry 1: the device has"},
      {R"([{"device": "300", "network": "lenet", "images_per_second": 5}])",
       "'300' would be read as a rate"},
      {R"([{"device": "1.5e3", "network": "lenet", "images_per_second": 5}])", "read as a rate"},
      {R"([{"device": "a,b", "network": "lenet", "images_per_second": 5}])",
       "'a,b' would be read as several devices"},
      {R"([{"device": "a", "network": "lenot", "images_per_second": 5}])", "did you mean lenet?"},
      {R"([{"device": "a", "network": "lenet", "images_per_second": 0}])", "is not above 0"},
      {R"([{"device": "a", "network": "lenet", "images_per_second": 5, "devces": 8}])",
       "entry 1: no key 'devces'"},
      {R"([{"device": "a", "network": "lenet", "images_per_second": 5, "devices": 0}])",
       "devices: expected a whole number from 1, found 0"},
      {R"([{"device": "a", "network": "lenet", "images_per_second": 5, "devices": -1}])",
       "devices: expected a whole number from 1, found -1"},
      {R"([{"device": "a", "network": "lenet", "images_per_second": 5, "batch": 1.5}])",
       "batch: expected a whole number from 0, found 1.5"},
      {R"([{"device": "a", "network": "lenet", "images_per_second": 5, "date": "2099-13"}])",
       "found '2099-13'"},
      {R"([{"device": "a", "network": "lenet", "images_per_second": 5, "date": "May 2026"}])",
       "date: expected a year, or a month as 2026-11"},
      {R"([{"device": "a", "network": "lenet", "images_per_second": 5, "date": "2026-11-00"}])",
       "found '2026-11-00'"},
      {"[5]", "entry 1: expected an object, found number"},
      {R"([{"device": "a", "network": "lenet", "images_per_second": "5"}])", "entry 1: "}};
  for (const auto& [text, sentence] : wrong) {
    formats::write_text(file, text);
    expect_error([&] { read_rates(file); }, {"rates.json", sentence});
  }
}

TEST(UnitPublishedRates, older_than_our_rows_they_are_warned_of) {
  PublishedRate rate{.device = "A100", .network = "resnet50", .date = "2020-12"};
  EXPECT_EQ(
      age_warning(rate),
      "the rate of resnet50 on A100 is of 2020-12, older than the schema of our rows (2026-11): "
      "newer software may train faster");
  rate.date = "2026-11";
  EXPECT_EQ(age_warning(rate), "");
  rate.date = "";
  EXPECT_NE(age_warning(rate), "");
}

Supply slices(unsigned threads, std::vector<double> rates) {
  return {.threads = threads, .rates = std::move(rates)};
}

Variant rated(double one, double four) {
  return {.name = "made up",
          .at_min = slices(1, {one}),
          .at_max = slices(4, {four}),
          .bytes = 1'000'000};
}

TEST(UnitFeeding, takes_as_many_cores_as_the_cost_of_an_image_says) {
  const Variant even = rated(1000, 4000);
  const Feeding feeding =
      feeding_of(demand_of({"fast", 1}, "resnet50", made_up), even, slices(2, {2000}));
  EXPECT_NEAR(feeding.hidden_cores_error.value(), 0, 1e-12);
  EXPECT_TRUE(feeding.range_held.value());
  const Cores cores = cores_for(feeding, even, 1000);
  EXPECT_EQ(cores.likely, 3U);
  EXPECT_EQ(cores.fewest, 3U);
  EXPECT_EQ(cores.most, 3U);
  EXPECT_DOUBLE_EQ(cores.bytes_per_second, 3000 * 1000.0);
}

TEST(UnitFeeding, doubts_widen_the_range_and_growing_costs_its_end) {
  Variant uneven = rated(1000, 0);
  uneven.at_max = slices(4, {3600, 4000, 4400});
  const Feeding eight = feeding_of(demand_of({"fast", 8}, "resnet50", made_up), uneven, {});
  const Cores cores = cores_for(eight, uneven, 1000);
  EXPECT_EQ(cores.likely, 20U);
  EXPECT_EQ(cores.fewest, 18U);
  EXPECT_EQ(cores.most, 22U);
  // One core gives 1,000, four give 2,000: each doubling costs the square root of 2.
  const Variant slower = rated(1000, 2000);
  const Feeding held = feeding_of(demand_of({"fast", 8}, "resnet50", made_up), slower,
                                  slices(2, {1400, 1500, 1600}));
  EXPECT_DOUBLE_EQ(held.hidden_cores_error.value(), 0.5);
  EXPECT_TRUE(held.range_held.value()) << "3 to 4 cores: their costs grow as they did up to two";
  EXPECT_EQ(held.seen, 2U);
  EXPECT_EQ(cores_for(held, slower, 1000).likely, 40U);
  EXPECT_EQ(cores_for(held, slower, 1000).most, 400U);  // 40 · √(400 / 4)
}

TEST(UnitFeeding, cores_follow_from_cpu_time_where_other_programs_have_the_cores) {
  Variant crowded = rated(250, 1000);
  crowded.at_max.cpu = 1e-3;  // of 4 ms that four threads have for an image
  const auto cores = [&] {
    return cores_for(feeding_of(demand_of({"fast", 1}, "resnet50", made_up), crowded, {}), crowded,
                     1000);
  };
  EXPECT_EQ(cores().likely, 3U);
  crowded.at_max.cpu = 0;
  EXPECT_EQ(cores().likely, 12U) << "thread-seconds, where CPU time was not measured";
}

TEST(UnitFeeding, a_range_that_misses_is_known) {
  // Two cores give twice what one gives, and four no more than that.
  const Feeding missed =
      feeding_of(demand_of({"fast", 8}, "resnet50", made_up), rated(1000, 2000), slices(2, {2000}));
  EXPECT_DOUBLE_EQ(missed.hidden_cores_error.value(), 1);
  EXPECT_FALSE(missed.range_held.value());
}

TEST(UnitFeeding, the_range_holds_files_that_the_kernel_opens_for_one_thread_at_a_time) {
  // Four cores give 4,000, eight give 5,200; 70 % of an image's processor time is the kernel's.
  const Variant files{.name = "made up", .at_min = slices(4, {4000}), .at_max = slices(8, {5200})};
  Supply half = slices(4, {4000});
  const DeviceDemand demand = demand_of({"fast", 1}, "resnet50", made_up);
  EXPECT_FALSE(feeding_of(demand, files, half).range_held.value());
  half.cpu = 1e-3;
  half.kernel = 0.7e-3;
  EXPECT_TRUE(feeding_of(demand, files, half).range_held.value());
  half.kernel = 0.1e-3;
  EXPECT_FALSE(feeding_of(demand, files, half).range_held.value());
}

TEST(UnitFeeding, the_doubt_of_an_estimated_demand_widens_the_range) {
  const Variant even = rated(1000, 4000);
  DeviceDemand demand = demand_of({"fast", 1}, "resnet50", made_up);
  demand.estimate = Estimate{.like = {}, .doubt = 2};
  const Cores cores = cores_for(feeding_of(demand, even, {}), even, 1000);
  EXPECT_EQ(cores.fewest, 2U);
  EXPECT_EQ(cores.likely, 3U);
  EXPECT_EQ(cores.most, 6U);
}

TEST(UnitFeeding, with_one_core_the_prediction_has_not_been_tried) {
  const Variant one{.name = "made up", .at_min = slices(1, {1000}), .at_max = slices(1, {1000})};
  const Feeding feeding = feeding_of(demand_of({"fast", 1}, "resnet50", made_up), one, {});
  EXPECT_FALSE(feeding.hidden_cores_error);
  EXPECT_EQ(cores_for(feeding, one, 1).likely, 3U);
}

TEST(CommandsAdvise, answers_for_devices_that_are_not_here) {
  const TempDirectory directory;
  write_dataset(formats::container("recordio"), formats::png_codec, directory / "set",
                make_examples({28, 28, 1}, 300));
  const auto rates = directory / "rates.json";
  formats::write_text(
      rates,
      R"([{"device": "Dream", "network": "lenet", "images_per_second": 1e7, "date": "2031"}])");
  const std::vector<std::string> line{"advise",    (directory / "set").string(),
                                      "--network", "lenet",
                                      "--for",     "dreamx2",
                                      "--rates",   rates.string(),
                                      "--seconds", "1"};
  const Said said = feedrate(line);
  ASSERT_EQ(said.code, exit_done) << said.errors;
  EXPECT_TRUE(
      said.output.starts_with("2 DREAM training lenet take 20,000,000 images/s, 10,000,000 "
                              "each (--rates, 2031)."))
      << said.output;
  EXPECT_NE(said.output.find("cores of this kind"), std::string::npos) << said.output;
  std::vector<std::string> json = line;
  json.emplace_back("--json");
  const auto object = nlohmann::json::parse(feedrate(json).output);
  EXPECT_EQ(object.at("demand"), 2e7);
  EXPECT_EQ(object.at("consumer"), "2 DREAM");
  const auto& feeding = object.at("feeding");
  EXPECT_EQ(feeding.at("rate").at("images_per_second"), 1e7);
  EXPECT_GE(feeding.at("variants").at(0).at("cores"), 2);
  EXPECT_EQ(feeding.at("variants").size(), 1 + object.at("alternatives").size());
  EXPECT_FALSE(feeding.at("first_limit").is_null());  // of ten million images a second
  const auto is_of_cores = [](const auto& permit) { return permit.at("part") == "cores"; };
  EXPECT_EQ(std::ranges::count_if(feeding.at("permits"), is_of_cores), 1);
  EXPECT_NE(said.output.find("The first limit of this machine is its "), std::string::npos);
}

TEST(CommandsAdvise, refuses_devices_without_a_network_or_beside_another_consumer) {
  const TempDirectory directory;
  write_dataset(formats::container("recordio"), formats::png_codec, directory / "set",
                make_examples({28, 28, 1}, 3));
  const std::string set = (directory / "set").string();
  EXPECT_EQ(feedrate({"advise", set, "--for", "h100"}).code, exit_misused);
  EXPECT_EQ(
      feedrate({"advise", set, "--for", "h100", "--network", "lenet", "--device", "cpu"}).code,
      exit_misused);
  EXPECT_EQ(feedrate({"advise", set, "--rates", set, "--network", "lenet"}).code, exit_misused);
  const Said unknown = feedrate({"advise", set, "--for", "h10", "--network", "resnet50"});
  EXPECT_NE(unknown.errors.find("did you mean h100?"), std::string::npos) << unknown.errors;
}

}  // namespace
}  // namespace feedrate::tools
