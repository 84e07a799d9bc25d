#include "tools/lab/advise/published_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
// Medians of the epochs' throughput, with the loader of the submission, in resnet/result_0.txt.
constexpr const char* mlperf_h200 = "MLPerf Training 4.0, NVIDIA, h200_ngc24.04_mxnet";
constexpr const char* mlperf_h100 = "MLPerf Training 4.0, Dell, XE9680x8H100-SXM-80GB";
constexpr const char* mlperf_a100 = "MLPerf Training 3.0, Dell, XE9680x8A100-SXM-80GB";
constexpr const char* own =
    "Feedrate's own trainer, an H100 80 GB HBM3 (samples/results/resnet50-h100.jsonl)";
constexpr const char* own_h200 =
    "Feedrate's own trainer, an H200 (samples/results, resnet50-h200.jsonl and "
    "networks-h200.jsonl)";
constexpr const char* mxnet = "NVIDIA DeepLearningExamples, MXNet 20.12, RN50v1.5";
constexpr const char* pytorch = "NVIDIA DeepLearningExamples, PyTorch 21.03, resnet50v1.5";
constexpr const char* tensorflow_p100 =
    "TensorFlow's benchmarks of May 2017, synthetic data, a DGX-1";
constexpr const char* tensorflow_k80 =
    "TensorFlow's benchmarks of May 2017, synthetic data, Google Compute Engine";

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

}  // namespace

std::string device_key(std::string_view name) {
  std::string small(name);
  std::ranges::transform(small, small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return small;
}

std::span<const PublishedRate> published_rates() {
  static const std::vector<PublishedRate> rates = {
      {"H100", "resnet50", "bf16", 1, 256, 5910, "2026-11", own},
      {"H100", "resnet50", "mixed", 8, 400, 57121, "2024-06", mlperf_h100},
      {"H200", "resnet50", "bf16", 1, 256, 8482, "2026-11", own_h200},
      {"H200", "resnet50", "mixed", 8, 400, 63616, "2024-06", mlperf_h200},
      {"H200", "alexnet:caffe", "bf16", 1, 128, 24231, "2026-11", own_h200},
      {"H200", "lenet", "bf16", 1, 64, 375368, "2026-11", own_h200},
      {"H200", "alexnet:cifar", "bf16", 1, 128, 297345, "2026-11", own_h200},
      {"H200", "resnet50:cifar", "bf16", 1, 128, 36391, "2026-11", own_h200},
      {"H200", "googlenet:cifar", "bf16", 1, 128, 81011, "2026-11", own_h200},
      {"H200", "vgg16:cifar", "bf16", 1, 128, 98385, "2026-11", own_h200},
      {"H100", "resnet50", "", 1, 400, 400 / 0.224, "2024-09", mlperf_storage},
      {"A100", "resnet50", "", 1, 400, 400 / 0.435, "2024-09", mlperf_storage},
      {"A100", "resnet50", "mixed", 8, 408, 28591, "2023-06", mlperf_a100},
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
      {"V100", "resnet50", "fp32", 1, 0, 367, "2021-03", pytorch},
      {"P100", "resnet50", "fp32", 1, 64, 219, "2017-05", tensorflow_p100},
      {"P100", "resnet50", "fp32", 8, 64, 1734, "2017-05", tensorflow_p100},
      {"P100", "alexnet", "fp32", 1, 512, 2987, "2017-05", tensorflow_p100},
      {"P100", "alexnet", "fp32", 8, 512, 17822, "2017-05", tensorflow_p100},
      {"P100", "vgg16", "fp32", 1, 64, 154, "2017-05", tensorflow_p100},
      {"P100", "vgg16", "fp32", 8, 64, 1081, "2017-05", tensorflow_p100},
      {"K80", "resnet50", "fp32", 1, 64, 51.9, "2017-05", tensorflow_k80},
      {"K80", "resnet50", "fp32", 8, 64, 387, "2017-05", tensorflow_k80},
      {"K80", "alexnet", "fp32", 1, 512, 656, "2017-05", tensorflow_k80},
      {"K80", "alexnet", "fp32", 8, 512, 4640, "2017-05", tensorflow_k80},
      {"K80", "vgg16", "fp32", 1, 32, 35.4, "2017-05", tensorflow_k80},
      {"K80", "vgg16", "fp32", 8, 32, 234, "2017-05", tensorflow_k80}};
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
    return std::ranges::any_of(own, [&](const PublishedRate& one) {
      return device_key(one.device) == device_key(rate.device);
    });
  });
  rates.insert(rates.end(), own.begin(), own.end());
  return rates;
}

std::vector<std::string> device_names(std::span<const PublishedRate> rates) {
  std::set<std::string> names;
  for (const PublishedRate& rate : rates) names.insert(device_key(rate.device));
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

std::string origin_text(const PublishedRate& rate) {
  std::string text = rate.source.empty() ? "--rates" : rate.source;
  if (!rate.date.empty()) text += ", " + rate.date;
  std::string how = rate.precision;
  if (rate.batch != 0) how += fmt::format("{}batches of {}", how.empty() ? "" : ", ", rate.batch);
  return how.empty() ? text : text + ": " + how;
}

}  // namespace feedrate::tools
