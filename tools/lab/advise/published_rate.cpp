#include "tools/lab/advise/published_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "formats/base/error.h"
#include "formats/base/kind.h"
#include "formats/base/text.h"
#include "formats/io/file.h"
#include "tools/console/json_file.hpp"
#include "tools/console/text.h"
#include "tools/lab/measure/row.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

namespace {

constexpr const char* mlperf_storage =
    "MLPerf Storage 1.0, the compute time of its emulated accelerator (mlcommons/storage)";
constexpr const char* own =
    "Feedrate's own trainer, an H100 80 GB HBM3 (samples/results/resnet50-h100.jsonl)";
constexpr const char* own_h200 =
    "Feedrate's own trainer, an H200 (samples/results/resnet50-h200.jsonl)";
constexpr const char* mxnet = "NVIDIA DeepLearningExamples, MXNet 20.12, RN50v1.5";
constexpr const char* pytorch = "NVIDIA DeepLearningExamples, PyTorch 21.03, resnet50v1.5";

std::string lower(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return small;
}

constexpr std::array<std::string_view, 8> keys = {
    "device", "network", "images_per_second", "precision", "devices", "batch", "date", "source"};

/// "2026", "2026-11" or "2026-11-27"; not given: "".
void check_date(const std::string& date) {
  constexpr std::string_view pattern = "dddd-dd-dd";
  bool is_date = date.empty() || date.size() == 4 || date.size() == 7 || date.size() == 10;
  for (std::size_t i = 0; is_date && i < date.size(); ++i) {
    is_date = pattern[i] == 'd' ? date[i] >= '0' && date[i] <= '9' : date[i] == pattern[i];
  }
  const auto is_from_1_to = [&](std::size_t at, std::string_view most) {
    const std::string part = date.size() > at ? date.substr(at, 2) : "01";
    return part >= "01" && part <= most;
  };
  if (is_date && is_from_1_to(5, "12") && is_from_1_to(8, "31")) return;
  throw Error(join("date: expected a year, or a month as 2026-11, found '", date, "'"));
}

/// Of a key that counts something; nlohmann::json would wrap -1 and cut 1.5.
std::uint32_t count_of(const nlohmann::json& object, const char* key, std::uint32_t fewest,
                       std::uint32_t otherwise) {
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() < fewest ||
      found->get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(
        fmt::format("{}: expected a whole number from {}, found {}", key, fewest, found->dump()));
  }
  return found->get<std::uint32_t>();
}

/// Refuses names that --for and --emulate would read otherwise: a rate, or a list. "RTX4090" is found before it
/// would be taken for 4090 of a device.
void check_device(const std::string& name) {
  if (name.empty()) throw Error("the device has no name");
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_rate = is_digit(name[0]) && name.find_first_not_of("0123456789.eE+-") == name.npos;
  if (is_rate || name.find(',') != name.npos) {
    throw Error(fmt::format("the device's name '{}' would be read as {}", name,
                            is_rate ? "a rate" : "several devices"));
  }
}

PublishedRate from_json(const nlohmann::json& object) {
  if (!object.is_object()) throw Error(join("expected an object, found ", object.type_name()));
  for (const auto& [key, value] : object.items()) expect_known("key", key, keys);
  PublishedRate rate;
  object.at("device").get_to(rate.device);
  object.at("network").get_to(rate.network);
  object.at("images_per_second").get_to(rate.images_per_second);
  rate.precision = object.value("precision", rate.precision);
  rate.devices = count_of(object, "devices", 1, rate.devices);
  rate.batch = count_of(object, "batch", 0, rate.batch);
  rate.date = object.value("date", rate.date);
  rate.source = object.value("source", rate.source);
  check_device(rate.device);
  if (!(rate.images_per_second > 0)) throw Error("images_per_second is not above 0");
  check_date(rate.date);
  network(rate.network);  // that it is known
  return rate;
}

double multiply_adds(std::string_view name) {
  const Network& kind = network(name);
  return static_cast<double>(kind.build(kind.published_input(), kind.published_classes()).macs());
}

/// Null where there is none.
template <class Wanted>
const PublishedRate* fastest(std::span<const PublishedRate> rates, const Wanted& wanted) {
  const PublishedRate* found = nullptr;
  for (const PublishedRate& rate : rates) {
    if (wanted(rate) && (found == nullptr || rate.images_per_second > found->images_per_second))
      found = &rate;
  }
  return found;
}

}  // namespace

std::span<const PublishedRate> published_rates() {
  static const std::vector<PublishedRate> rates = {
      {"H100", "resnet50", "bf16", 1, 256, 5910, "2026-11", own},
      {"H200", "resnet50", "bf16", 1, 256, 8482, "2026-11", own_h200},
      {"H100", "resnet50", "", 1, 400, 400 / 0.224, "2024-09", mlperf_storage},
      {"A100", "resnet50", "", 1, 400, 400 / 0.435, "2024-09", mlperf_storage},
      {"A100", "resnet50", "mixed", 1, 256, 2180, "2020-12", mxnet},
      {"A100", "resnet50", "mixed", 8, 256, 16925, "2020-12", mxnet},
      {"A100", "resnet50", "tf32", 1, 256, 1022, "2020-12", mxnet},
      {"A100", "resnet50", "tf32", 8, 256, 8001, "2020-12", mxnet},
      {"A100", "resnet50", "mixed", 1, 0, 2470, "2021-03", pytorch},
      {"A100", "resnet50", "mixed", 8, 0, 16621, "2021-03", pytorch},
      {"A100", "resnet50", "tf32", 1, 0, 938, "2021-03", pytorch},
      {"A100", "resnet50", "tf32", 8, 0, 7248, "2021-03", pytorch},
      {"V100", "resnet50", "mixed", 1, 256, 1492, "2020-12", mxnet},
      {"V100", "resnet50", "mixed", 8, 256, 11368, "2020-12", mxnet},
      {"V100", "resnet50", "fp32", 1, 128, 417, "2020-12", mxnet},
      {"V100", "resnet50", "fp32", 8, 128, 3223, "2020-12", mxnet},
      {"V100", "resnet50", "mixed", 1, 0, 1200, "2021-03", pytorch},
      {"V100", "resnet50", "fp32", 1, 0, 367, "2021-03", pytorch}};
  return rates;
}

std::vector<PublishedRate> read_rates(const std::filesystem::path& file) {
  const nlohmann::json list = parse_json(file, read_text(file));
  if (!list.is_array()) fail(file, "expected a list of rates, found ", list.type_name());
  std::vector<PublishedRate> rates;
  for (const auto& object : list) {
    try {
      rates.push_back(from_json(object));
    } catch (const nlohmann::json::exception& error) {
      fail(file, "entry ", rates.size() + 1, ": ", without_prefix(error.what()));
    } catch (const Error& error) {
      fail(file, "entry ", rates.size() + 1, ": ", error.what());
    }
  }
  if (rates.empty()) fail(file, "lists no rate");
  return rates;
}

std::vector<PublishedRate> known_rates(const std::filesystem::path& file) {
  std::vector<PublishedRate> rates(published_rates().begin(), published_rates().end());
  if (file.empty()) return rates;
  const std::vector<PublishedRate> own = read_rates(file);
  std::erase_if(rates, [&](const PublishedRate& rate) {
    return std::ranges::any_of(
        own, [&](const PublishedRate& one) { return lower(one.device) == lower(rate.device); });
  });
  rates.insert(rates.end(), own.begin(), own.end());
  return rates;
}

std::vector<std::string> device_names(std::span<const PublishedRate> rates) {
  std::set<std::string> names;
  for (const PublishedRate& rate : rates) names.insert(lower(rate.device));
  return {names.begin(), names.end()};
}

std::string age_warning(const PublishedRate& rate) {
  if (rate.date >= row_schema_since) return {};
  const std::string of = fmt::format("the rate of {} on {}", rate.network, rate.device);
  if (rate.date.empty())
    return of + " has no date: software of another year trains at another rate";
  return fmt::format(
      "{} is of {}, older than the schema of our rows ({}): newer software may train faster", of,
      rate.date, row_schema_since);
}

Devices parse_devices(std::string_view text, std::span<const PublishedRate> rates) {
  const std::vector<std::string> names = device_names(rates);
  Devices devices{lower(text)};
  if (std::ranges::find(names, devices.name) != names.end()) return devices;
  const std::size_t x = devices.name.rfind('x');
  if (x != std::string::npos && x + 1 < devices.name.size()) {
    const char* const end = devices.name.data() + devices.name.size();
    const auto [stop, error] = std::from_chars(devices.name.data() + x + 1, end, devices.count);
    if (error == std::errc() && stop == end && devices.count > 0) devices.name.resize(x);
  }
  std::vector<std::string_view> known(names.begin(), names.end());
  expect_known("device", devices.name, known);
  return devices;
}

DeviceDemand demand_of(const Devices& devices, std::string_view network,
                       std::span<const PublishedRate> rates) {
  const auto is_of = [&](const PublishedRate& rate, unsigned count) {
    return lower(rate.device) == devices.name && rate.devices == count;
  };
  const auto wanted = [&](unsigned count) {
    return [&, count](const PublishedRate& rate) {
      return is_of(rate, count) && rate.network == network;
    };
  };
  if (const PublishedRate* same = fastest(rates, wanted(devices.count))) {
    return {.from = *same, .devices = devices, .images_per_second = same->images_per_second};
  }
  DeviceDemand demand{.from = {}, .devices = devices, .scaled = devices.count > 1};
  if (const PublishedRate* one = fastest(rates, wanted(1))) {
    demand.from = *one;
    demand.images_per_second = devices.count * one->images_per_second;
    return demand;
  }
  const PublishedRate* other = fastest(rates, [&](const auto& rate) { return is_of(rate, 1); });
  if (other == nullptr) {
    throw Error(join("no rate of one ", devices.name, " is known; --rates FILE can tell one"));
  }
  demand.estimated = true;
  demand.from = *other;
  demand.images_per_second = devices.count * other->images_per_second *
                             multiply_adds(other->network) / multiply_adds(network);
  return demand;
}

std::string origin_text(const PublishedRate& rate) {
  std::string text = rate.source.empty() ? "--rates" : rate.source;
  if (!rate.date.empty()) text += ", " + rate.date;
  std::string how = rate.precision;
  if (rate.batch != 0) how += fmt::format("{}batches of {}", how.empty() ? "" : ", ", rate.batch);
  return how.empty() ? text : text + ": " + how;
}

}  // namespace feedrate::tools
