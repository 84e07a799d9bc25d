#include "tools/program/cli/groups.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <span>

namespace feedrate::tools {
namespace {

struct Group {
  std::string_view heading;
  std::initializer_list<std::string_view> options;
};

// In the order of help.
constexpr std::string_view arguments_group = "Arguments";
constexpr std::string_view other_group = "Other options";
const Group heading_table[] = {
    {arguments_group, {}},
    {common_group, {}},
    {only_group, {}},
    {other_group, {}},
    {"Length", {"--epochs", "--steps", "--seconds", "--repeat", "--decide"}},
    {"Data order",
     {"--seed", "--no-shuffle", "--shuffle-window", "--shuffle-blocks", "--order", "--weights",
      "--groups", "--mix", "--draws", "--last", "--from", "--rank", "--ranks", "--shuffle"}},
    {"Pixels",
     {"--recipe", "--pixels", "--layout", "--mean", "--deviation", "--decode", "--no-crop-index",
      "--encode", "--resize", "--fix", "--crops"}},
    {"Labels and boxes", {"--labels", "--one-label", "--boxes", "--no-boxes"}},
    {"Reading", {"--cold", "--cache", "--io-threads"}},
    {"Emulation and demand",
     {"--emulate", "--for", "--rates", "--host-cores", "--resident", "--no-upload"}},
    {"Faults", {"--on-bad", "--bad-budget", "--quarantine", "--no-check"}},
    {"Hardware",
     {"--threads", "--device", "--precision", "--compute-threads", "--cores", "--beside-others"}},
    {"Optimisation",
     {"--preset", "--batch", "--optimizer", "--lr", "--momentum", "--decay", "--beta2", "--epsilon",
      "--trust", "--schedule", "--warmup", "--label-smoothing", "--init", "--zero-gamma"}},
    {"Several processes", {"--shards", "--part", "--join"}},
    {"Checkpoints and resuming", {"--checkpoint", "--checkpoint-every", "--resume"}},
    {"Output",
     {"--out", "--json", "--log", "--metrics", "--mllog", "--tensorboard", "--trace", "--no-digest",
      "--html", "--csv", "--markdown", "--sheet"}},
    {server_group,
     {"--connections", "--endpoint", "--cache-dir", "--cache-size", "--request-price",
      "--transfer-price"}},
    {help_group, {"-h", "--help"}}};

}  // namespace

std::string_view group_of(std::string_view name) {
  if (!name.starts_with('-')) return arguments_group;
  for (const Group& group : heading_table) {
    if (std::ranges::find(group.options, name) != group.options.end()) return group.heading;
  }
  return other_group;
}

std::size_t place_in_group(std::string_view name) {
  const auto* group = std::ranges::find(heading_table, group_of(name), &Group::heading);
  const auto* found = std::ranges::find(group->options, name);
  return static_cast<std::size_t>(found - group->options.begin());
}

std::size_t place_of_group(std::string_view heading) {
  const auto* found = std::ranges::find(heading_table, heading, &Group::heading);
  return static_cast<std::size_t>(found - std::begin(heading_table));
}

}  // namespace feedrate::tools
