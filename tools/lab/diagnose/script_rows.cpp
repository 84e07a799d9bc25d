#include "tools/lab/diagnose/script_rows.h"

#include <cmath>
#include <filesystem>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/digests/digest.h"

namespace feedrate::tools {
using namespace formats;

namespace {

constexpr std::string_view swapped_tool = "pytorch+feedrate";

/// The file of "train.py:31", without its folder; a script is called after the file that makes its loader.
std::string script_name(const std::string& where) {
  return std::filesystem::path(where.substr(0, where.rfind(':'))).filename().string();
}

unsigned whole(std::uint64_t count) { return static_cast<unsigned>(count); }

/// What all rows of the diagnosis have in common.
Row row_of_script(const Diagnosis& found, const Environment& environment) {
  const Loop& loop = found.loops.front();
  const LoaderMade& made = loop.made;
  const std::string script = made.where.empty() ? "script" : script_name(made.where);
  // Many scripts of many folders are called train.py.
  const std::string file = made.where.substr(0, made.where.rfind(':'));
  const std::string images =
      join(file, '\n', made.dataset, '\n', made.length ? std::to_string(*made.length) : "");
  Row row;
  row.tool = torch_tool;
  row.dataset = made.dataset;
  row.format = made.wrapped ? made.dataset : "DataLoader";
  row.network = script;
  row.device = "pytorch";
  row.batch = static_cast<std::uint32_t>(std::lround(loop.samples));
  row.digest = hex(sha256(as_bytes(images)));
  row.environment = environment;
  row.environment.libraries = join("Python ", found.python);
  if (!found.torch.empty()) row.environment.libraries += ", PyTorch " + found.torch;
  return row;
}

Row measured(Row row, std::string_view kind, double rate) {
  row.kind = kind;
  row.repeats = {rate};
  row.images_per_second = rate;
  return row;
}

/// What the parts of an image take the worker that makes it, in µs.
void add_parts(Row& row, const Service& service) {
  if (service.batches == 0 || service.samples <= 0) return;
  const double scale = 1e6 / service.samples;
  row.cpu_us = scale * service.cpu;
  if (service.stages.empty()) return;
  double read = 0, decode = 0, augment = 0;
  for (const Stage& stage : service.stages) {
    double& part = stage.name == "getitem" ? read : stage.name == "decode" ? decode : augment;
    part += service.alone(stage);
  }
  row.read_us = scale * read;
  row.decode_us = scale * decode;
  row.augment_us = scale * augment;
}

void add_waits(Row& row, double share) {
  row.stall_percent = 100 * share;
  row.wait_ms = 1e3 * share * row.batch / row.images_per_second;
}

}  // namespace

std::vector<Row> script_rows(const Diagnosis& found, const Environment& environment) {
  std::vector<Row> rows;
  if (!found.problem.empty() || found.loops.empty()) return rows;
  const Loop& loop = found.loops.front();
  if (loop.delivered() <= 0 || std::lround(loop.samples) < 1) return rows;
  const Row script = row_of_script(found, environment);
  const auto supply = [&](std::string_view tool, unsigned threads, double rate) -> Row& {
    Row& row = rows.emplace_back(measured(script, supply_kind, rate));
    row.tool = tool;
    row.threads = threads;
    row.network.reset();
    row.device.reset();
    return row;
  };
  for (const CurvePoint& point : found.curve) {
    if (!point.measured) continue;
    Row& row = supply(torch_tool, whole(point.workers), *point.measured);
    add_parts(row, loop.service);
    if (point.workers != 1) row.predicted = point.predicted;  // with one, the others are foretold
  }
  const SwapSeen& swap = loop.swap;
  const bool swapped = swap.made.has_value();
  const unsigned threads = whole(swapped ? swap.made->threads : loop.made.workers);
  if (swap.before && found.curve.empty())
    supply(torch_tool, whole(loop.made.workers), loop.rate(*swap.before));
  if (swapped && swap.after) supply(swapped_tool, threads, loop.rate(*swap.after));

  const std::string_view tool = swapped ? swapped_tool : torch_tool;
  if (loop.demand() > 0) {
    rows.push_back(measured(script, demand_kind, loop.demand()));
    rows.back().tool = tool;
  }
  Row now = measured(script, delivered_kind, loop.delivered());
  now.tool = tool;
  now.threads = threads;
  add_waits(now, loop.wait_share());
  if (!swapped) add_parts(now, loop.service);
  if (!found.causes.empty()) now.cause = sentences(found.causes.front());
  rows.push_back(std::move(now));
  for (const Restarted& one : found.restarts) {
    if (!one.delivered || one.workers == loop.made.workers) continue;
    Row then = measured(script, delivered_kind, *one.delivered);
    then.threads = whole(one.workers);
    then.predicted = one.predicted;
    if (one.wait_share) add_waits(then, *one.wait_share);
    rows.push_back(std::move(then));
  }
  return rows;
}

}  // namespace feedrate::tools
