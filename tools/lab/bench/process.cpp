#include "tools/lab/bench/process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "formats/base/error.h"
#include "formats/io/file.h"
#include "tools/console/signals.h"

namespace feedrate::tools {
using namespace formats;

namespace {

/// A file in memory for a process's input or output: unlike a pipe, it needs no draining.
class Capture {
 public:
  Capture() : file_(memfd_create("feedrate", MFD_CLOEXEC)) {
    if (!file_) fail_errno("memfd", "cannot create", errno);
  }

  explicit Capture(std::string_view content) : Capture() {
    while (!content.empty()) {
      const ssize_t written = write(file_.number(), content.data(), content.size());
      if (written <= 0) fail_errno("memfd", "cannot write", errno);
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    lseek(file_.number(), 0, SEEK_SET);
  }

  int descriptor() const { return file_.number(); }
  std::string text() const {
    std::string all(static_cast<std::size_t>(lseek(file_.number(), 0, SEEK_END)), '\0');
    const ssize_t got = pread(file_.number(), all.data(), all.size(), 0);
    all.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return all;
  }

 private:
  Descriptor file_;
};

/// Descriptors that the new process starts with.
class Redirections {
 public:
  Redirections() { posix_spawn_file_actions_init(&actions_); }
  ~Redirections() { posix_spawn_file_actions_destroy(&actions_); }
  Redirections(const Redirections&) = delete;
  Redirections& operator=(const Redirections&) = delete;
  void send(int descriptor, const Capture& to) {
    posix_spawn_file_actions_adddup2(&actions_, to.descriptor(), descriptor);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// What the new process blocks: not what this one does.
class Attributes {
 public:
  Attributes() {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &signals_blocked_at_start());
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

std::string without_last_newlines(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// `name` is the process's argv[0], and its name in errors.
Finished run_as(const std::string& name, const std::string& program,
                const std::vector<std::string>& arguments, std::string_view input) {
  const Capture output, errors, given(input);
  Redirections redirections;
  redirections.send(STDIN_FILENO, given);
  redirections.send(STDOUT_FILENO, output);
  redirections.send(STDERR_FILENO, errors);

  std::vector<std::string> words{name};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  pid_t process = 0;
  const int refused = posix_spawnp(&process, program.c_str(), redirections.get(),
                                   Attributes().get(), pointers.data(), environ);
  if (refused != 0) fail_errno(program, "cannot start", refused);
  stop_also(process);
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) fail_errno(program, "cannot wait", errno);
  }
  stop_also(0);
  if (WIFSIGNALED(status)) {
    throw Error(fmt::format("'{} {}' was ended by signal {} ({})", name, fmt::join(arguments, " "),
                            WTERMSIG(status), strsignal(WTERMSIG(status))));
  }
  return {output.text(), without_last_newlines(errors.text()), WEXITSTATUS(status)};
}

}  // namespace

Finished run_program(const std::string& program, const std::vector<std::string>& arguments,
                     std::string_view input) {
  return run_as(program, program, arguments, input);
}

Finished run_self(const std::vector<std::string>& arguments) {
  Finished finished = run_as("feedrate", "/proc/self/exe", arguments, {});
  if (finished.code != 0) {
    throw Error(fmt::format("'feedrate {}' failed: {}", fmt::join(arguments, " "),
                            finished.errors.empty() ? "it printed no error" : finished.errors));
  }
  return finished;
}

}  // namespace feedrate::tools
