#include "tools/console/console.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include "formats/base/error.h"
#include "formats/remote/url.h"
#include "tools/console/terminal.h"
#include "tools/console/text.h"

namespace feedrate::tools {
using namespace formats;

namespace {

constexpr double redraw_seconds = 0.1;
constexpr std::size_t min_cells = 8;
constexpr std::size_t max_cells = 24;
constexpr const char* erase_line = "\r\033[K";

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool bar_on_screen = false;

void clear_bar() {
  if (!bar_on_screen) return;
  std::fputs(erase_line, stderr);
  bar_on_screen = false;
}

constexpr std::string_view filled = "━";
constexpr std::string_view unfilled = "─";

std::string bar(double share, std::size_t count) {
  const auto full = static_cast<std::size_t>(share * static_cast<double>(count));
  std::string cells;
  for (std::size_t i = 0; i < count; ++i) cells += i < full ? filled : unfilled;
  return cells;
}

std::string with_painted_bar(const std::string& line) {
  const std::size_t begin = line.find(filled), last = line.rfind(filled);
  if (begin == std::string::npos) return line;
  const std::size_t end = last + filled.size();
  return line.substr(0, begin) +
         painted(STDERR_FILENO, Colour::cyan, line.substr(begin, end - begin)) + line.substr(end);
}

// What a user typed, such as one argument too many, may be a URL with a password or a signature.
std::string without_secrets_of_urls(std::string_view text) {
  std::string told;
  constexpr std::string_view mark = "://", blanks = " \t\n", behind = ".,:;)'\"";
  for (std::size_t at = 0; (at = text.find(mark)) != std::string_view::npos;) {
    const std::size_t begin = text.find_last_of(" \t\n'\"=,(", at) + 1;  // 0 where there is none
    std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    while (end > at + mark.size() && behind.find(text[end - 1]) != std::string_view::npos) --end;
    told.append(text.substr(0, begin)).append(without_secrets(text.substr(begin, end - begin)));
    text.remove_prefix(end);
  }
  return told.append(text);
}

}  // namespace

void say(std::string_view text) {
  const std::string shown = shown_on(STDERR_FILENO, text);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

void complain(std::string_view program, std::string_view problem, std::string_view advice) {
  clear_bar();
  say(fmt::format("{} {}\n{}{}", painted(STDERR_FILENO, Colour::red, fmt::format("{}:", program)),
                  without_secrets_of_urls(problem), advice, advice.empty() ? "" : "\n"));
}

void name_console(std::string_view command) {
  auto logger = spdlog::stderr_logger_st(std::string(command));
  logger->set_pattern("%n: %v");
  spdlog::set_default_logger(std::move(logger));
}

void note(std::string_view sentence) {
  clear_bar();
  spdlog::info("{}", shown_on(STDERR_FILENO, sentence));
}

void warn(std::string_view sentence) {
  clear_bar();
  spdlog::warn("{} {}", painted(STDERR_FILENO, Colour::yellow, "warning:"),
               shown_on(STDERR_FILENO, sentence));
}

void mute_notes() { spdlog::set_level(spdlog::level::err); }

void print(std::string_view text) {
  clear_bar();
  const std::string shown = shown_on(STDOUT_FILENO, text);
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size() ||
      std::fflush(stdout) != 0) {
    fail_errno("standard output", "cannot write", errno);
  }
}

Progress::Progress(std::string_view title, std::string_view unit)
    : title_(title), unit_(unit), start_(now()), visible_(is_terminal(STDERR_FILENO)) {}

Progress::~Progress() { clear_bar(); }

void Progress::update(std::uint64_t done, std::uint64_t total) {
  if (!visible_) return;
  const double time = now();
  if (time - drawn_ < redraw_seconds) return;
  drawn_ = time;
  const ProgressState state{title_, unit_, done, total, time - start_};
  // One column stays free: a full line would wrap and could not be erased.
  const std::string line = progress_line(state, terminal_columns(STDERR_FILENO) - 1);
  std::fputs(erase_line, stderr);
  say(with_painted_bar(line));
  bar_on_screen = true;
}

std::function<void(std::uint64_t, std::uint64_t)> Progress::callback() {
  return [this](std::uint64_t done, std::uint64_t total) { update(done, total); };
}

std::string progress_line(const ProgressState& state, std::size_t width) {
  const double rate = state.seconds > 0 ? static_cast<double>(state.done) / state.seconds : 0;
  std::string counts = fmt::format("{} {}", grouped(state.done), state.unit);
  std::string pace = fmt::format("{}/s", quantity(rate));
  if (state.total > 0) {
    counts = fmt::format("{} / {} {}", grouped(state.done), grouped(state.total), state.unit);
    if (rate > 0 && state.total > state.done) {
      const double left = static_cast<double>(state.total - state.done) / rate;
      const auto whole = static_cast<std::uint64_t>(left + 0.5);
      pace += fmt::format("  {}:{:02} left", whole / 60, whole % 60);
    }
  }
  // A narrow terminal loses the bar first, then the title, then the pace.
  const std::string all = fmt::format("{}  {}  {}", state.title, counts, pace);
  if (all.size() <= width) {
    constexpr std::size_t share_columns = 8;  // two spaces, " 42 %", one space
    const std::size_t room = width - all.size();
    if (state.total == 0 || room < share_columns + min_cells) return all;
    const double share =
        std::min(1.0, static_cast<double>(state.done) / static_cast<double>(state.total));
    return fmt::format("{}  {:3.0f} % {}  {}  {}", state.title, share * 100,
                       bar(share, std::min(room - share_columns, max_cells)), counts, pace);
  }
  const std::string untitled = fmt::format("{}  {}", counts, pace);
  return untitled.size() <= width ? untitled : counts.substr(0, width);
}

}  // namespace feedrate::tools
