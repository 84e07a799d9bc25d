#include "tools/lab/bench/peer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "formats/base/error.h"
#include "formats/container.h"
#include "loader/recipe.h"
#include "tools/console/text.h"
#include "tools/lab/jobs/devices.h"
#include "tools/lab/peers/graph_json.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::array<std::string_view, 7> tools{
    own_tool,     "pytorch", "pytorch:cuda-graph", "pytorch:compile", "pytorch+feedrate",
    "tensorflow", "mxnet"};

constexpr int framework_absent = 3;  // an adapter's exit code

std::string environment_or(const char* variable, std::string usual) {
  const char* value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? std::move(usual) : value;
}

std::string python() { return environment_or("FEEDRATE_PYTHON", "python3"); }

/// `pytorch:compile`: the framework, and how it runs; "" for the usual way.
struct Way {
  explicit Way(const std::string& tool) : framework(tool.substr(0, tool.find(':'))) {
    if (framework != tool) name = tool.substr(framework.size() + 1);
  }
  std::string framework, name;
};

/// The build puts adapters beside the program, an installation under share/.
fs::path adapter(const std::string& tool) {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path beside = here / "peers", installed = here / "../share/feedrate/peers";
  const fs::path folder =
      environment_or("FEEDRATE_PEERS", (fs::exists(beside) ? beside : installed).string());
  fs::path file = folder / (Way(tool).framework + ".py");
  if (!fs::exists(file)) fail(file, "does not exist, so ", tool, " cannot be measured");
  return file;
}

// Only the last line matters: warnings of libraries and Python's traceback come before it.
std::string last_words(const Finished& finished) {
  if (finished.errors.empty()) return fmt::format("exit code {}", finished.code);
  return finished.errors.substr(finished.errors.rfind('\n') + 1);
}

json parse(const fs::path& file, const std::string& text) {
  json object = json::parse(text, nullptr, false);
  if (!object.is_object()) fail(file, "expected a JSON object, found: ", text.substr(0, 200));
  return object;
}

std::string graph_of(const Row& row) {
  const std::unique_ptr<Dataset> dataset = open_dataset(row.dataset);
  const Network& definition = network(*row.network);
  const Shape taken = recipe(row.recipe).shape(dataset->info().shape);
  return graph_json(definition.build(taken, count_classes(*dataset)), definition.recipe());
}

std::vector<std::string> arguments(const Row& row, const BenchOptions& options) {
  std::vector<std::string> words{"--format", row.format, "--recipe", row.recipe};
  const auto add = [&](auto&&... more) { (words.emplace_back(more), ...); };
  add("--batch", std::to_string(row.batch));
  add("--seconds", fmt::format("{}", options.seconds), "--seed", std::to_string(options.seed));
  add("--threads", std::to_string(row.threads.value_or(1)));
  if (row.compute_threads) add("--compute-threads", std::to_string(*row.compute_threads));
  if (row.cache == cold_cache) add("--cold");
  if (row.network) {
    add("--graph", "/dev/stdin", "--device", row.device.value_or("cpu"));
    add("--precision", row.precision.value_or("fp32"));
  }
  if (const std::string way = Way(row.tool).name; !way.empty()) add(join("--", way));
  add("--", row.kind, row.dataset);  // a name may begin with a dash
  return words;
}

}  // namespace

std::span<const std::string_view> bench_tools() { return tools; }

Peers::Abilities Peers::ask(const std::string& tool) {
  const fs::path file = adapter(tool);
  Finished finished;
  try {
    finished = run_program(python(), {"-B", file.string(), "--check"});
  } catch (const Error& problem) {
    return {.absent = problem.what()};
  }
  if (finished.code == framework_absent) return {.absent = last_words(finished)};
  if (finished.code != 0) fail(file, "--check failed: ", last_words(finished));
  try {
    const json answer = parse(file, finished.output);
    return {.absent = {},
            .libraries =
                fmt::format("{} {}, Python {}", tool, answer.at("tool_version").get<std::string>(),
                            answer.at("python_version").get<std::string>()),
            .formats = answer.at("formats").get<std::set<std::string>>(),
            .recipes = answer.at("recipes").get<std::set<std::string>>(),
            .kinds = answer.value("kinds", std::set<std::string>{}),
            .ways = answer.value("ways", decltype(Abilities::ways){}),
            .trains = answer.value("trains", decltype(Abilities::trains){{"cpu", {"fp32"}}}),
            .least_threads = answer.at("least_threads").get<unsigned>()};
  } catch (const json::exception& problem) {
    fail(file, "its answer to --check is malformed: ", problem.what());
  }
}

const Peers::Abilities& Peers::abilities(const std::string& tool) {
  const auto found = asked_.find(tool);
  return found != asked_.end() ? found->second : asked_.emplace(tool, ask(tool)).first->second;
}

std::string Peers::cannot(const Row& point) {
  if (point.tool == own_tool) return "";
  const Abilities& can = abilities(point.tool);
  if (!can.absent.empty()) return join(point.tool, " is not available: ", can.absent);
  const auto adapter_does = [&](auto&&... what) {
    return join("the adapter of ", point.tool, what...);
  };
  if (point.decode != full_decode) return adapter_does(" decodes JPEGs in full");
  if (point.shuffle_blocks) return adapter_does(" keeps no blocks together in a shuffle");
  const Way way(point.tool);
  if (point.kind == supply_kind && !way.name.empty()) {
    return join(point.tool, " loads as ", way.framework, " does");
  }
  if (point.network) {
    const auto device = can.trains.find(point.device.value_or("cpu"));
    if (device == can.trains.end())
      return adapter_does(" does not train on ", *point.device, " here");
    if (!device->second.contains(point.precision.value_or("fp32"))) {
      return adapter_does(" does not train in ", *point.precision, " on ", device->first);
    }
  }
  if (!way.name.empty()) {
    const auto ways = can.ways.find(point.device.value_or("cpu"));
    if (ways == can.ways.end() || !ways->second.contains(way.name)) {
      return adapter_does(" knows no ", way.name, " on ", point.device.value_or("cpu"));
    }
  }
  if (point.kind == compute_kind && !can.kinds.contains(point.kind)) {
    return adapter_does(" does not measure ", point.kind);
  }
  if (!can.formats.contains(point.format)) return adapter_does(" reads no ", point.format);
  if (!can.recipes.contains(point.recipe)) return adapter_does(" knows no recipe ", point.recipe);
  if (point.threads && *point.threads < can.least_threads) {
    return adapter_does(" needs at least ", counted(can.least_threads, "loader thread"));
  }
  return "";
}

std::vector<std::string> Peers::leave_out(std::vector<BenchPoint>& points) {
  std::map<std::string, std::size_t> reasons;  // and how many points each affects
  std::erase_if(points, [&](const BenchPoint& point) {
    const std::string reason = cannot(point.row);
    if (!reason.empty()) ++reasons[reason];
    return !reason.empty();
  });
  std::vector<std::string> sentences;
  for (const auto& [reason, count] : reasons) {
    sentences.push_back(fmt::format("{}; {} left out", reason, counted(count, "point")));
  }
  return sentences;
}

Finished Peers::run(const BenchPoint& point, const BenchOptions& options) const {
  const fs::path file = adapter(point.row.tool);
  std::vector<std::string> words = arguments(point.row, options);
  words.insert(words.begin(), {"-B", file.string()});  // -B: write no bytecode beside it
  Finished finished = run_program(python(), words, point.row.network ? graph_of(point.row) : "");
  if (finished.code != 0) fail(file, point.title(), ": ", last_words(finished));
  parse(file, finished.output);
  return finished;
}

std::string Peers::libraries(const std::string& tool) const { return asked_.at(tool).libraries; }

}  // namespace feedrate::tools
