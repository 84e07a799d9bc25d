#include "loader/emulated_host.h"

#include <chrono>

#include "formats/base/thread_time.h"

namespace feedrate::loader {

double thread_seconds() {
  return std::chrono::duration<double>(formats::thread_cpu_time()).count();
}

EmulatedHost::EmulatedHost(unsigned threads) : left_(threads) {
  threads_.reserve(threads);
  for (std::atomic<double>& left : left_) threads_.emplace_back([&] { work(left); });
}

EmulatedHost::~EmulatedHost() {
  ended_ = true;
  for (std::thread& thread : threads_) thread.join();
}

void EmulatedHost::add(double seconds) {
  for (std::atomic<double>& left : left_) left += seconds;
}

void EmulatedHost::work(std::atomic<double>& left) {
  constexpr std::chrono::microseconds nap{200};  // short beside a step
  while (!ended_) {
    const double seconds = left.exchange(0);
    if (seconds <= 0) {
      std::this_thread::sleep_for(nap);
      continue;
    }
    const double enough = thread_seconds() + seconds;
    while (!ended_ && thread_seconds() < enough) {
    }
  }
}

}  // namespace feedrate::loader
