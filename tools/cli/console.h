#pragma once
// What a command says to a person: on stderr, so that stdout carries data alone.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace feedrate::tools {

/// The name under which notes and warnings are given: "feedrate convert". Called once, by main().
void name_console(std::string_view command);
/// "feedrate convert: <sentence>"
void note(std::string_view sentence);
/// "feedrate convert: warning: <sentence>"
void warn(std::string_view sentence);
/// From now on neither is said: of several ranks the first alone speaks.
void mute_notes();

/// Data for stdout. Throws Error when stdout refuses (a full disk behind a redirection).
void print(std::string_view text);

/// A progress bar on stderr: only on a terminal, redrawn ten times a second at most, with the rate
/// and the time left. One thread at a time. Gone from the screen when destroyed.
class Progress {
 public:
  /// `title` is what is being done; `unit` what is counted ("images").
  Progress(std::string_view title, std::string_view unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `total` 0: not known.
  void update(std::uint64_t done, std::uint64_t total);
  /// update() as a callback for a library; refers to this object.
  std::function<void(std::uint64_t, std::uint64_t)> callback();

 private:
  std::string title_;
  std::string unit_;
  double start_;
  double drawn_ = 0;
  bool visible_;
};

/// The line that Progress draws, no wider than `width` columns.
struct ProgressState {
  std::string_view title;
  std::string_view unit;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  double seconds = 0;
};
std::string progress_line(const ProgressState& state, std::size_t width);

}  // namespace feedrate::tools
