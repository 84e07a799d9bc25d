#pragma once
// Runs work in a child process that is killed in the middle, as by `kill -9`. Only the states that
// it reported survive.

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "formats/dataset.h"

namespace feedrate::testing {
using namespace formats;

using Tell = std::function<void(const WriterState&)>;

[[noreturn]] inline void kill_myself() {
  kill(getpid(), SIGKILL);
  std::abort();
}

/// Runs `work` in a child process, which kills itself or is killed after `patience`, and returns
/// the last state that it reported. Throws if the child ended in any other way.
inline WriterState last_state_of_killed(
    const std::function<void(const Tell& tell)>& work,
    std::chrono::microseconds patience = std::chrono::minutes(1)) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const auto tell = [&](const WriterState& state) {
      std::ostringstream line;  // a single write, so that a line is written whole or not at all
      line << state.samples;
      for (const auto& [file, size] : state.files) line << ' ' << file << ' ' << size;
      line << '\n';
      const std::string text = line.str();
      if (write(ends[1], text.data(), text.size()) < 0) std::abort();
    };
    try {
      work(tell);
    } catch (...) {
    }
    _exit(1);
  }
  close(ends[1]);
  // The pipe closes when the child ends, so a child that kills itself ends the wait at once.
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::jthread killer([child, deadline](const std::stop_token& stop) {
    while (!stop.stop_requested() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    kill(child, SIGKILL);
  });
  std::string told;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    told.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  killer.request_stop();
  killer.join();
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
    throw std::runtime_error("the child was not killed: it failed, or ended before");
  }
  WriterState state;
  const std::size_t end = told.empty() ? 0 : told.rfind('\n', told.size() - 2) + 1;
  std::istringstream line(told.substr(told.empty() ? 0 : end));
  line >> state.samples;
  for (std::pair<std::string, std::uint64_t> file; line >> file.first >> file.second;) {
    state.files.push_back(file);
  }
  return state;
}

}  // namespace feedrate::testing
