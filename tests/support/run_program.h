#pragma once
// Runs the real binary as a user would, and keeps its output.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/places.h"
#include "tests/support/temp_directory.h"

namespace feedrate::testing {

struct Said {
  int code = -1;       // exit code; -1 when a signal ended it
  int signal = 0;      // that ended it; 0: none
  std::string output;  // stdout
  std::string errors;  // stderr
};

inline std::string slurp(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A running program, with its stdin empty. `program`: an absolute path, or a name on the PATH. One
/// that was not waited for is killed.
class Started {
 public:
  Started(const std::string& program, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    constexpr int create = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output_.c_str(), create, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors_.c_str(), create, 0600);
    const int refused =
        posix_spawnp(&process_, program.c_str(), &actions, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (refused != 0) throw std::runtime_error("cannot start " + program);
  }
  ~Started() {
    if (process_ == 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;

  pid_t process() const { return process_; }
  void send(int signal) const { kill(process_, signal); }
  /// Waits for its end. Once.
  Said finish() {
    int status = 0;
    waitpid(std::exchange(process_, 0), &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            WIFSIGNALED(status) ? WTERMSIG(status) : 0, slurp(output_), slurp(errors_)};
  }

 private:
  TempDirectory files_;
  std::filesystem::path output_ = files_ / "output";
  std::filesystem::path errors_ = files_ / "errors";
  pid_t process_ = 0;
};

inline Said run_program(const std::string& program, const std::vector<std::string>& arguments) {
  return Started(program, arguments).finish();
}

inline Said feedrate(const std::vector<std::string>& arguments) {
  return run_program(program_under_test(), arguments);
}

}  // namespace feedrate::testing
