#pragma once
// Messages for people. They go to stderr, so that stdout carries only data. One thread at a time.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace feedrate::tools {

/// Writes to stderr as it shows it. Never throws: if stderr is closed, the exit code still reports
/// the failure.
void say(std::string_view text);
/// "feedrate convert: <problem>", and the advice, if any, in a second line.
void complain(std::string_view program, std::string_view problem, std::string_view advice);
/// Sets the prefix of notes and warnings: "feedrate convert". main() calls it once.
void name_console(std::string_view command);
/// "feedrate convert: <sentence>"
void note(std::string_view sentence);
/// "feedrate convert: warning: <sentence>"
void warn(std::string_view sentence);
/// Suppresses notes and warnings from now on: of several ranks, only the first prints them.
void mute_notes();

/// Writes data to stdout. Throws Error when that fails (a redirection to a full disk).
void print(std::string_view text);

/// A progress bar on stderr with the rate and the time left. It is drawn only on a terminal, at
/// most ten times a second, and erased when destroyed. One thread at a time.
class Progress {
 public:
  /// `title` says what is being done, `unit` what is counted ("images").
  Progress(std::string_view title, std::string_view unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A `total` of 0 means unknown.
  void update(std::uint64_t done, std::uint64_t total);
  /// Another title from the next update() on.
  void rename(std::string_view title) { title_ = title; }
  /// update() as a callback. It refers to this object.
  std::function<void(std::uint64_t, std::uint64_t)> callback();

 private:
  std::string title_;
  std::string unit_;
  double start_;
  double drawn_ = 0;
  bool visible_;
};

/// The line that Progress draws, at most `width` columns wide.
struct ProgressState {
  std::string_view title;
  std::string_view unit;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  double seconds = 0;
};
std::string progress_line(const ProgressState& state, std::size_t width);

}  // namespace feedrate::tools
