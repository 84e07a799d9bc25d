#pragma once
// Runs the real binary as a user would, and keeps its output.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/places.h"
#include "tests/support/temp_directory.h"

namespace feedrate::testing {

struct Said {
  int code = -1;       // exit code; -1 when a signal ended it
  std::string output;  // stdout
  std::string errors;  // stderr
};

inline std::string slurp(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Runs `program` (an absolute path, or a name on the PATH) with its stdin empty.
inline Said run_program(const std::string& program, const std::vector<std::string>& arguments) {
  const TempDirectory files;
  const std::string output = (files / "output").string();
  const std::string errors = (files / "errors").string();
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int create = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), create, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), create, 0600);
  pid_t process = 0;
  const int refused =
      posix_spawnp(&process, program.c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (refused != 0) throw std::runtime_error("cannot start " + program);
  int status = 0;
  waitpid(process, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(output), slurp(errors)};
}

inline Said feedrate(const std::vector<std::string>& arguments) {
  return run_program(program_under_test(), arguments);
}

}  // namespace feedrate::testing
