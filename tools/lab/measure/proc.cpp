#include "tools/lab/measure/proc.h"

#include <sys/resource.h>

#include <fstream>
#include <iterator>
#include <system_error>

#include "formats/base/text.h"

namespace feedrate::tools {
using namespace formats;

namespace {

/// The number that follows `key`, with which `text` starts, up to the next space or line end.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) {
  const std::size_t end = text.find_first_of(" \n", key.size());
  return parse_number<std::uint64_t>(text.substr(key.size(), end - key.size()));
}

/// `text` from the first line that starts with `start` on; empty when there is none.
std::string_view from_line(std::string_view text, std::string_view start) {
  while (!text.empty() && !text.starts_with(start)) {
    const std::size_t end = text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return text;
}

}  // namespace

std::optional<std::uint64_t> pressure_total(std::string_view text) {
  const std::string_view some = from_line(text, "some ");
  const std::string_view line = some.substr(0, some.find('\n'));
  constexpr std::string_view key = " total=";
  const std::size_t at = line.find(key);
  return at == std::string_view::npos ? std::nullopt : number_after(line.substr(at), key);
}

std::optional<std::uint64_t> io_read_bytes(std::string_view text) {
  constexpr std::string_view key = "read_bytes: ";
  const std::string_view line = from_line(text, key);
  return line.empty() ? std::nullopt : number_after(line, key);
}

std::optional<std::uint64_t> resident_pages(std::string_view text) {
  if (!take_number<std::uint64_t>(text, ' ')) return std::nullopt;
  return number_after(text, "");
}

std::optional<CoreTime> core_time(std::string_view text) {
  const auto ran = take_number<std::uint64_t>(text, ' ');
  const auto waited = take_number<std::uint64_t>(text, ' ');
  if (!ran || !waited) return std::nullopt;
  return CoreTime{static_cast<double>(*ran), static_cast<double>(*waited)};
}

std::optional<CoreTime> core_time_of_threads(const std::filesystem::path& tasks) {
  std::optional<CoreTime> sum;
  std::error_code error;
  for (std::filesystem::directory_iterator task(tasks, error), end; !error && task != end;
       task.increment(error)) {
    const std::optional<std::string> text = text_of(task->path() / "schedstat");
    const std::optional<CoreTime> time = text ? core_time(*text) : std::nullopt;
    if (!time) continue;  // it has just ended
    if (!sum) sum.emplace();
    sum->ran += time->ran;
    sum->waited += time->waited;
  }
  return sum;
}

std::optional<MachineTime> machine_time(std::string_view text) {
  constexpr std::string_view key = "cpu  ";
  constexpr int numbers = 8, steal = 7;
  if (!text.starts_with(key)) return std::nullopt;
  text.remove_prefix(key.size());
  MachineTime time;
  for (int i = 0; i < numbers; ++i) {
    const auto ticks = take_number<std::uint64_t>(text, ' ');
    if (!ticks) return std::nullopt;
    time.all += static_cast<double>(*ticks);
    if (i == steal) time.stolen = static_cast<double>(*ticks);
  }
  return time;
}

double process_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::optional<std::string> text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream.is_open()) return std::nullopt;
  try {
    return std::string{std::istreambuf_iterator<char>(stream), {}};
  } catch (const std::ios_base::failure&) {  // the thread that it tells of has just ended
    return std::nullopt;
  }
}

}  // namespace feedrate::tools
