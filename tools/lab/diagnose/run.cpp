#include "tools/lab/diagnose/run.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "formats/base/error.h"
#include "tools/console/signals.h"

namespace feedrate::tools {
using namespace formats;

namespace {

constexpr std::string_view path_name = "PYTHONPATH=";

/// This process's environment, with the probe's directory first in PYTHONPATH.
std::vector<std::string> environment_with(const std::filesystem::path& probe) {
  std::vector<std::string> all;
  std::string path = std::string(path_name) + probe.string();
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view entry = *one;
    if (!entry.starts_with(path_name)) {
      all.emplace_back(entry);
    } else if (entry.size() > path_name.size()) {
      path += ':';
      path += entry.substr(path_name.size());
    }
  }
  all.push_back(std::move(path));
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Ended run_with_probe(const std::vector<std::string>& command, const std::filesystem::path& probe,
                     OutputTo to) {
  std::vector<std::string> words = command, variables = environment_with(probe);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (to == OutputTo::our_stderr) {
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  }
  if (to == OutputTo::nowhere) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &signals_blocked_at_start());
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGXFSZ);  // take_signals() ignores it
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  PassSignalsOn passing;
  pid_t process = 0;
  const int refused = posix_spawnp(&process, words.front().c_str(), &actions, &attributes,
                                   pointers_to(words).data(), pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (refused != 0) {
    throw NotStarted(join(command.front(), ": cannot start it: ", std::strerror(refused)),
                     refused == ENOENT ? 127 : 126);
  }
  passing.to(process);
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) fail_errno(command.front(), "cannot wait for it", errno);
  }
  if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
  return {.code = WEXITSTATUS(status)};
}

}  // namespace feedrate::tools
