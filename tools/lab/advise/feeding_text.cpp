#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/console/bars.h"
#include "tools/console/text.h"
#include "tools/lab/advise/advice.h"
#include "tools/lab/report/study/scaling.h"

namespace feedrate::tools {
namespace {

std::string range(const Cores& cores) { return cores_text(cores.likely, cores.fewest, cores.most); }

std::string upper(std::string name) {
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return name;
}

std::string demand_text(const Feeding& feeding, const std::string& network) {
  const DeviceDemand& demand = feeding.demand;
  const std::string who = feeding.name();
  const char* const verb = demand.devices.count == 1 ? "takes" : "take";
  if (demand.estimate) {
    const double rate = demand.images_per_second, doubt = demand.estimate->doubt;
    return fmt::format("{} training {} {} about {} images/s, {} to {}: an estimate {}.", who,
                       network, verb, quantity(rate), quantity(rate / doubt),
                       quantity(rate * doubt), estimate_text(demand, network));
  }
  return fmt::format(
      "{} training {} {} {} images/s{} ({}).", who, network, verb,
      quantity(demand.images_per_second),
      demand.scaled ? fmt::format(", {} each", quantity(demand.from.images_per_second)) : "",
      origin_text(demand.from));
}

/// How well the same prediction holds where it can be measured.
std::string hidden_cores_text(const Feeding& feeding) {
  if (!feeding.hidden_cores_error) {
    return "No core of this machine could be hidden, so predicting more of them was not tried.";
  }
  const double error = *feeding.hidden_cores_error;
  const std::string found = fmt::format(
      "predicted from {} with the others hidden, the rate of {} is {:.0f} % too {}; "
      "the range of cores {} them",
      feeding.seen == 1 ? "one core" : counted(feeding.seen, "core"), feeding.measured,
      100 * std::abs(error), error >= 0 ? "high" : "low", *feeding.range_held ? "holds" : "misses");
  if (std::abs(error) <= max_hidden_cores_error && *feeding.range_held)
    return fmt::format("({})", found);
  return fmt::format("Careful: {}, and for more cores nobody knows.", found);
}

/// What only more cores would show.
std::string kernel_text(const Feeding& feeding) {
  if (feeding.kernel_share <= large_kernel_share) return {};
  return fmt::format(
      "The kernel, which opens, reads and closes files, takes {:.0f} % of the processor time of "
      "these "
      "images; whether more cores share its work shows on them alone, so the range allows for "
      "none.",
      100 * feeding.kernel_share);
}

std::string gives(const Permit& permit) {
  if (!permit.per_second) return {};
  return bytes_text(static_cast<std::uint64_t>(*permit.per_second)) + "/s";
}

/// "its 2 cores", "its storage"
std::string part_text(const Permit& permit, const Feeding& feeding) {
  if (permit.part == "cores")
    return feeding.measured == 1 ? "its core" : fmt::format("its {} cores", feeding.measured);
  return fmt::format("its {}", permit.part);
}

/// What would hold up the devices here, and what after that.
std::string limit_text(const Feeding& feeding, const Variant& present) {
  const double demand = feeding.demand.images_per_second;
  const Permit* const first = first_limit(feeding.permits, demand);
  if (first == nullptr)
    return "No part of this machine is known to be the limit beside these devices.";
  std::string text =
      fmt::format("The first limit of this machine is {}: {} of {} images/s.",
                  part_text(*first, feeding), quantity(first->images_per_second), quantity(demand));
  if (first->part == "cores") {
    std::vector<Permit> others = feeding.permits;
    std::erase_if(others, [](const Permit& one) { return one.part == "cores"; });
    const Permit* const next = first_limit(others, demand);
    text += next == nullptr
                ? " With enough of them, no other part is known to be."
                : fmt::format(" With enough of them, {} would be the next, at {} images/s.",
                              part_text(*next, feeding), quantity(next->images_per_second));
  }
  if (present.bytes > 0 &&
      std::ranges::any_of(feeding.permits, [](const Permit& one) { return !one.always; })) {
    text += " The storage is asked in the first epoch only: the images fit into memory.";
  }
  return text;
}

std::string permit_row(const Permit& permit, const Feeding& feeding) {
  const double share = permit.images_per_second / feeding.demand.images_per_second;
  return fmt::format(
      "{} {:>16} {:>12.0f} % {:>14}{}\n",
      fitted(permit.part == "cores" ? counted(feeding.measured, "core") : std::string(permit.part),
             advice_name_columns),
      (permit.at_least ? "at least " : "") + quantity(permit.images_per_second), 100 * share,
      gives(permit), permit.always ? "" : "  first epoch only");
}

std::string row(const Feeding& feeding, const Variant& variant, std::uint64_t images) {
  const Cores cores = cores_for(feeding, variant, images);
  return fmt::format("{} {:>16} {:>12}/s {:>12}\n", fitted(variant.name, advice_name_columns),
                     range(cores), bytes_text(static_cast<std::uint64_t>(cores.bytes_per_second)),
                     bytes_text(variant.bytes));
}

}  // namespace

std::string Feeding::name() const {
  const unsigned count = demand.devices.count;
  return fmt::format("{} {}", count == 1 ? "One" : std::to_string(count),
                     upper(demand.devices.name));
}

std::string Advice::feeding_text() const {
  if (!feeding) return {};
  const Cores now = cores_for(*feeding, present, images);
  std::string text = wrapped(demand_text(*feeding, network), 0, advice_page_columns) + "\n";
  const std::string tried = hidden_cores_text(*feeding);
  const bool careful = tried.starts_with('C');
  if (careful) text += wrapped(tried, 0, advice_page_columns) + "\n";
  text += wrapped(fmt::format("From these images as they are: {} of this kind, beside one for each "
                              "device's own thread{}",
                              now.most == 1 ? "one core" : range(now) + " cores",
                              careful ? "." : " " + tried + "."),
                  0, advice_page_columns) +
          "\n";
  if (const std::string kernel = kernel_text(*feeding); !kernel.empty())
    text += wrapped(kernel, 0, advice_page_columns) + "\n";
  text += fmt::format("\n{} {:>16} {:>14} {:>12}\n", fitted("kept as", advice_name_columns),
                      "cores", "storage reads", "size");
  text += row(*feeding, present, images);
  for (const Alternative& one : alternatives) text += row(*feeding, one.variant, images);
  text += "From memory, the size has to fit there; else the storage has to give so much.\n\n";
  text += wrapped(limit_text(*feeding, present), 0, advice_page_columns) + "\n\n";
  text += fmt::format("{} {:>16} {:>14} {:>12}\n", fitted("limit here", advice_name_columns),
                      "images/s", "of the demand", "gives");
  for (const Permit& permit : feeding->permits) text += permit_row(permit, *feeding);
  return text + "\nOn this machine:\n\n";
}

}  // namespace feedrate::tools
