#pragma once
// Runs a program and kills it, as by `kill -9`, between two of the system calls that change files.

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/run_program.h"

namespace feedrate::testing {

/// Whether a system call changes a directory or a file, other than what the program prints.
inline bool changes_files(std::uint64_t call, const std::uint64_t* arguments) {
  switch (call) {
#ifdef SYS_open
    case SYS_open:
      return (arguments[1] & O_CREAT) != 0;
    case SYS_mkdir:
    case SYS_rmdir:
    case SYS_rename:
    case SYS_unlink:
    case SYS_link:
#endif
    case SYS_mkdirat:
    case SYS_renameat2:
    case SYS_unlinkat:
    case SYS_linkat:
    case SYS_ftruncate:
    case SYS_copy_file_range:
      return true;
    case SYS_openat:
      return (arguments[2] & O_CREAT) != 0;
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
      return arguments[0] > STDERR_FILENO;
    default:
      return false;
  }
}

enum class Ended { killed, by_itself, without_tracing };

namespace detail {

[[noreturn]] inline void run_traced(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.data()));
  pointers.push_back(nullptr);
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int end : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, end);
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(0);
  raise(SIGSTOP);
  execv(pointers.front(), pointers.data());
  _exit(0);
}

/// The signal that a stopped thread is to get.
inline int signal_for(int status) {
  const int signal = WSTOPSIG(status);
  const bool of_tracing = status >> 16 != 0 || signal == (SIGTRAP | 0x80) || signal == SIGSTOP;
  return of_tracing ? 0 : signal;
}

}  // namespace detail

/// Runs the binary and sends it a signal before its call number `number` (from 1) that changes files, of
/// any thread. `killed` means that the call came, also where the program takes the signal and goes on.
inline Ended kill_before_call(const std::vector<std::string>& arguments, unsigned number,
                              int signal = SIGKILL) {
  std::vector<std::string> words{program_under_test()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const pid_t child = fork();
  if (child == 0) detail::run_traced(words);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) throw std::runtime_error("cannot fork");
  constexpr long options =
      PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  if (!WIFSTOPPED(status) || ptrace(PTRACE_SETOPTIONS, child, nullptr, options) != 0) {
    kill(child, SIGKILL);
    return Ended::without_tracing;
  }
  ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
  bool killed = false;
  for (unsigned seen = 0;;) {
    const pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) throw std::runtime_error("lost the traced program");
    if (!WIFSTOPPED(status)) {
      if (thread == child) return killed ? Ended::killed : Ended::by_itself;
      continue;
    }
    __ptrace_syscall_info call{};
    const bool calls = WSTOPSIG(status) == (SIGTRAP | 0x80) &&
                       ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof call, &call) > 0 &&
                       call.op == PTRACE_SYSCALL_INFO_ENTRY;
    if (!killed && calls && changes_files(call.entry.nr, call.entry.args) && ++seen == number) {
      kill(child, signal);
      killed = true;
    }
    if (!killed || signal != SIGKILL)
      ptrace(PTRACE_SYSCALL, thread, nullptr, detail::signal_for(status));
  }
}

}  // namespace feedrate::testing
