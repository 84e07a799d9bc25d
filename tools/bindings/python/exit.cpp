// The end of the interpreter, where daemon threads may still be at work.

#include <atomic>
#include <chrono>
#include <thread>

#include "tools/bindings/python/native.hpp"

namespace feedrate::tools {

namespace nb = nanobind;

namespace {

std::atomic<int> away{0};  // threads that have left Python
std::atomic<bool> leaving{false};

// `daemons`: whether there are daemon threads. What they hold is never freed, which is no fault of
// ours.
void leave_python(bool daemons) {
  if (daemons) nb::set_leak_warnings(false);
  leaving = true;
  const nb::gil_scoped_release others_return;
  while (away > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

OthersRun::OthersRun() {
  ++away;
  if (leaving) {
    --away;
  } else {
    own_ = PyEval_SaveThread();
  }
}

OthersRun::~OthersRun() {
  if (own_ == nullptr) return;
  PyEval_RestoreThread(own_);
  --away;
}

bool leaving_python() { return leaving; }

void add_exit(nb::module_& module) {
  module.def(
      "leave_python", leave_python, nb::arg("daemons"),
      "Returns when no thread is in this module without the GIL. For the interpreter's exit.");
  module.def(
      "forget_others", [] { away = 0; }, "For a forked child, where no other thread is.");
}

}  // namespace feedrate::tools
