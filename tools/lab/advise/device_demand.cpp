#include "tools/lab/advise/device_demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>
#include <vector>

#include "formats/base/error.h"
#include "formats/base/kind.h"
#include "tools/console/text.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using Rates = std::span<const PublishedRate>;

constexpr double doubt_of_one_network =
    5;  // times as fast, or as slow; more for a network unlike it

double multiply_adds(std::string_view name) {
  const trainer::Network& kind = trainer::network(name);
  return static_cast<double>(kind.build(kind.published_input(), kind.published_classes()).macs());
}

bool is_of(const PublishedRate& rate, const Devices& devices) {
  return device_key(rate.device) == devices.name && rate.devices == devices.count;
}

/// Null where there is none.
template <class Wanted>
const PublishedRate* fastest(Rates rates, const Wanted& wanted) {
  const PublishedRate* found = nullptr;
  for (const PublishedRate& rate : rates) {
    if (wanted(rate) && (found == nullptr || rate.images_per_second > found->images_per_second))
      found = &rate;
  }
  return found;
}

/// What an estimate may follow: `from` of the device and `like` of a similar network. Where that is another device's,
/// `beside` is what it does of the network of `from`, by the same source.
struct Proportion {
  const PublishedRate* from;
  const PublishedRate* like;
  const PublishedRate* beside;  // null: `like` is of the device itself
  double apart;  // the ratio of the multiply-adds of `like` and of what is asked for, from 1 up
};

/// By the more similar network, then of this device, then of the newer source.
bool is_better(const Proportion& one, const Proportion& other) {
  return std::tuple(one.apart, one.beside != nullptr, other.like->date,
                    other.from->images_per_second) <
         std::tuple(other.apart, other.beside != nullptr, one.like->date,
                    one.from->images_per_second);
}

std::vector<Proportion> proportions(const Devices& one, double wanted, Rates rates) {
  std::vector<Proportion> found;
  for (const PublishedRate& like : rates) {
    if (like.devices != 1) continue;
    const double ratio = multiply_adds(like.network) / wanted;
    const double apart = std::max(ratio, 1 / ratio);
    if (is_of(like, one)) {
      found.push_back({&like, &like, nullptr, apart});
      continue;
    }
    for (const PublishedRate& beside : rates) {
      const bool is_same_work = beside.devices == 1 &&
                                device_key(beside.device) == device_key(like.device) &&
                                beside.source == like.source && beside.precision == like.precision;
      if (!is_same_work) continue;
      const PublishedRate* const from = fastest(rates, [&](const PublishedRate& rate) {
        return is_of(rate, one) && rate.network == beside.network;
      });
      if (from != nullptr) found.push_back({from, &like, &beside, apart});
    }
  }
  return found;
}

}  // namespace

Devices parse_devices(std::string_view text, Rates rates) {
  const std::vector<std::string> names = device_names(rates);
  Devices devices{device_key(text)};
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

DeviceDemand demand_of(const Devices& devices, std::string_view network, Rates rates) {
  const Devices one{devices.name, 1};
  const auto of = [&](const Devices& wanted) {
    return fastest(rates, [&](const PublishedRate& rate) {
      return is_of(rate, wanted) && rate.network == network;
    });
  };
  if (const PublishedRate* same = of(devices)) {
    return {.from = *same, .devices = devices, .images_per_second = same->images_per_second};
  }
  DeviceDemand demand{.from = {}, .devices = devices, .scaled = devices.count > 1};
  if (const PublishedRate* single = of(one)) {
    demand.from = *single;
    demand.images_per_second = devices.count * single->images_per_second;
    return demand;
  }
  const double wanted = multiply_adds(network);
  const std::vector<Proportion> all = proportions(one, wanted, rates);
  if (all.empty()) {
    throw Error(fmt::format("no rate of one {} is known; --rates FILE can tell one", devices.name));
  }
  const Proportion& best = *std::ranges::min_element(all, is_better);
  const double share =
      best.beside == nullptr ? 1 : best.from->images_per_second / best.beside->images_per_second;
  demand.from = *best.from;
  demand.estimate = {*best.like, doubt_of_one_network * best.apart};
  demand.images_per_second = devices.count * share * best.like->images_per_second *
                             multiply_adds(best.like->network) / wanted;
  return demand;
}

std::string estimate_text(const DeviceDemand& demand, std::string_view network) {
  const PublishedRate& like = demand.estimate->like;
  std::string text = fmt::format("from the {} of {} ({})", quantity(demand.from.images_per_second),
                                 demand.from.network, origin_text(demand.from));
  if (device_key(like.device) != demand.devices.name) {
    text += fmt::format(", and as {} is to it on {} ({})", like.network, like.device,
                        origin_text(like));
  }
  return like.network == network ? text : text + ", by multiply-adds";
}

}  // namespace feedrate::tools
