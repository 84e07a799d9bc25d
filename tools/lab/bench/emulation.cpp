#include "tools/lab/bench/emulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "formats/base/error.h"
#include "tools/console/advised_error.h"
#include "tools/console/text.h"
#include "tools/lab/advise/device_demand.h"
#include "tools/lab/bench/plan.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {
using namespace formats;

namespace {

constexpr double max_rate = 1e9;  // images/s

/// Nothing where the text is no number; infinite where it is too large or too small for one.
std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return std::numeric_limits<double>::infinity();
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Exact, so that two rates have two names: "1,000", "1000.2".
std::string exact(double rate) {
  std::string text = quantity(rate);
  std::string digits = text;
  std::erase(digits, ',');
  return number_of(digits) == rate ? text : fmt::format("{}", rate);
}
/// "1000.0", "1000.25"
std::string exact_tenths(double rate) {
  std::string text = fmt::format("{:.1f}", rate);
  return number_of(text) == rate ? text : fmt::format("{}", rate);
}

}  // namespace

Emulation emulation_of(std::string_view text, const std::string& network,
                       std::span<const PublishedRate> rates, double host_cores) {
  // Rows of devices that keep other cores busy are of other points.
  const std::string host =
      host_cores == host_cores_of_a_device
          ? ""
          : fmt::format("; {:.4g} of the cores busy for each device", host_cores);
  if (const auto rate = number_of(text)) {
    if (!(*rate > 0) || *rate > max_rate) {
      throw Error(fmt::format("{} is no rate in images/s; expected more than 0 and at most {}",
                              text, quantity(max_rate)));
    }
    return {.device = fmt::format("emulated {}/s", exact(*rate)),
            .precision = {},
            .origin = fmt::format("{} images/s, as asked{}", exact_tenths(*rate), host),
            .images_per_second = *rate,
            .host_cores = host_cores};
  }
  if (network == any_trainer) {
    throw Error(join(text, " is no rate in images/s; the rate of a device depends on 'network'"));
  }
  const DeviceDemand demand = demand_of(parse_devices(text, rates), network, rates);
  const std::string origin =
      demand.estimate ? "an estimate " + estimate_text(demand, network) : origin_text(demand.from);
  const auto& [name, count] = demand.devices;
  if (demand.images_per_second > max_rate) {
    throw Error(fmt::format("{} images/s are more than the {} that can be emulated",
                            quantity(demand.images_per_second), quantity(max_rate)));
  }
  if (count * host_cores > max_host_cores) {
    throw Error(fmt::format("{} devices would keep {:.4g} cores busy here; at most {} can be",
                            count, count * host_cores, max_host_cores));
  }
  return {.device = fmt::format("emulated {}{}", name, count > 1 ? fmt::format("x{}", count) : ""),
          .precision = demand.from.precision,
          .origin = fmt::format("{} images/s: {}{}", exact_tenths(demand.images_per_second), origin,
                                host),
          .images_per_second = demand.images_per_second,
          .host_cores = count * host_cores,
          .age = age_warning(demand.from)};
}

std::vector<std::string> fed_networks(const BenchOptions& options) {
  if (!options.networks.empty() || options.emulated.empty()) return options.networks;
  return {std::string(any_trainer)};
}

void check_emulations(const BenchOptions& options) {
  if (!options.emulated.empty() && options.networks.empty() && !options.devices.empty()) {
    throw Misused("'device' needs 'network': it says what the device trains");
  }
  for (const std::string& text : options.emulated) {
    for (const std::string& network : fed_networks(options)) {
      if (network != any_trainer) trainer::network(network);
      try {
        const Emulation emulation = emulation_of(text, network, options.rates, options.host_cores);
        const double step = std::ranges::max(options.batches) / emulation.images_per_second;
        if (step > options.seconds) {
          throw Error(fmt::format("a step of {} images takes {:.3g} s, longer than --seconds {:g}",
                                  std::ranges::max(options.batches), step, options.seconds));
        }
      } catch (const Error& problem) {
        throw Misused(join("'emulate ", text, "': ", problem.what()));
      }
    }
  }
}

}  // namespace feedrate::tools
