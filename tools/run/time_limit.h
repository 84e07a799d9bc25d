#pragma once
// Batch sources as the commands ask for them.

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "loader/batch.h"

namespace feedrate::tools {

/// Enough distinct batches that the trainer's caches do not hold them all, few enough to fill fast.
inline constexpr unsigned resident_batches = 16;

/// Ends another source when the time is up, counted from the second batch: the first pays for what
/// every later one finds ready.
class TimeLimit : public loader::BatchSource {
 public:
  TimeLimit(loader::BatchSource& source, double seconds) : source_(source), seconds_(seconds) {}
  const loader::Batch* next() override {
    if (taken_ == 1) start_ = Clock::now();
    if (taken_ > 1 && std::chrono::duration<double>(Clock::now() - start_).count() >= seconds_) {
      return nullptr;
    }
    ++taken_;
    return source_.next();
  }
  formats::Shape shape() const override { return source_.shape(); }
  std::uint32_t batch_size() const override { return source_.batch_size(); }

 private:
  using Clock = std::chrono::steady_clock;

  loader::BatchSource& source_;
  double seconds_;
  std::uint64_t taken_ = 0;
  Clock::time_point start_;
};

/// Tells when a batch is asked for, and when it has come; they count from 0.
class Watched : public loader::BatchSource {
 public:
  using Asked = std::function<void(std::uint64_t number)>;
  using Came = std::function<void(std::uint64_t number, const loader::Batch& batch)>;
  Watched(loader::BatchSource& source, Asked asked, Came came = nullptr)
      : source_(source), asked_(std::move(asked)), came_(std::move(came)) {}
  const loader::Batch* next() override {
    asked_(taken_);
    const loader::Batch* batch = source_.next();
    if (batch != nullptr && came_) came_(taken_, *batch);
    ++taken_;
    return batch;
  }
  formats::Shape shape() const override { return source_.shape(); }
  std::uint32_t batch_size() const override { return source_.batch_size(); }

 private:
  loader::BatchSource& source_;
  Asked asked_;
  Came came_;
  std::uint64_t taken_ = 0;
};

}  // namespace feedrate::tools
