#include <fmt/format.h>

#include <algorithm>

#include "tools/report/output.h"

namespace feedrate {
namespace {

template <class T>
std::string cell(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string report_csv(const Report& report) {
  std::string text =
      "kind,dataset,format,codec,recipe,network,device,precision,batch,threads,compute_threads,"
      "workers_seen,images_per_second,lowest,highest,repeats,stall_percent,cpu_seconds,"
      "peak_rss_mib,cpu_energy_j,gpu_memory_mib,gpu_power_w,gpu_energy_j,digest,cpu,cores,gpu,"
      "commit,build_type,time\r\n";
  for (const Run& run : report.runs) {
    const auto [low, high] = std::minmax_element(run.repeats.begin(), run.repeats.end());
    const std::string cells[] = {run.kind,
                                 run.dataset,
                                 run.format,
                                 run.codec,
                                 run.recipe,
                                 cell(run.network),
                                 cell(run.device),
                                 cell(run.precision),
                                 std::to_string(run.batch),
                                 cell(run.threads),
                                 cell(run.compute_threads),
                                 cell(run.workers_seen),
                                 fmt::format("{}", run.images_per_second),
                                 fmt::format("{}", *low),
                                 fmt::format("{}", *high),
                                 std::to_string(run.repeats.size()),
                                 cell(run.stall_percent),
                                 cell(run.telemetry.cpu_seconds),
                                 cell(run.telemetry.peak_rss_mib),
                                 cell(run.telemetry.cpu_energy_j),
                                 cell(run.telemetry.gpu_memory_mib),
                                 cell(run.telemetry.gpu_power_w),
                                 cell(run.telemetry.gpu_energy_j),
                                 run.digest,
                                 run.environment.cpu,
                                 std::to_string(run.environment.cores),
                                 cell(run.environment.gpu),
                                 run.environment.commit,
                                 run.environment.build_type,
                                 run.environment.time};
    const char* separator = "";
    for (const std::string& one : cells) {
      text += separator;
      text += csv_field(one);
      separator = ",";
    }
    text += "\r\n";
  }
  return text;
}

}  // namespace feedrate
