#include "trainer/backends/cuda/products/engine_timer.cuh"

#include <algorithm>

#include "trainer/backends/cuda/products/conv_check.cuh"
#include "trainer/backends/cuda/products/random_values.cuh"

namespace feedrate::trainer::cuda {

namespace {

/// The best of these runs counts, because a disturbance only makes a run longer.
constexpr int measured_runs = 3;
/// One that takes so many times the least time so far is not run again.
constexpr float hopeless = 1.5F;

}  // namespace

EngineTimer::EngineTimer(const Context& context, const ConvShape& shape)
    : context_(context),
      x_(shape.x_bytes(), "a convolution's input"),
      filter_(shape.filter_bytes(), "a convolution's filters"),
      y_(shape.y_bytes(), "a convolution's output"),
      begin_(make_event(0)),
      end_(make_event(0)) {
  std::uint64_t seed = 0;
  for (const DeviceMemory* tensor : {&x_, &filter_, &y_}) {
    fill_randomly(context, shape.type, ++seed, *tensor);
  }
}

void EngineTimer::try_out(ConvExecution& execution, ConvDirection direction) {
  if (execution.workspace() > workspace_.bytes()) {
    workspace_ = {};  // the old one first: there may not be room for both
    workspace_ = DeviceMemory(execution.workspace(), "a convolution's workspace");
  }
  constexpr int nan_byte = 0xff;  // of all value types
  const DeviceMemory& to = result(direction);
  check(cudaMemsetAsync(to.data(), nan_byte, to.bytes(), context_.compute()), "cudaMemsetAsync");
  wait();  // run() may throw, and the memory may go then
  run(execution);
  wait();
}

void EngineTimer::wait() const {
  check(cudaStreamSynchronize(context_.compute()), "cudaStreamSynchronize");
}

const DeviceMemory& EngineTimer::result(ConvDirection direction) const {
  switch (direction) {
    case ConvDirection::forward:
      return y_;
    case ConvDirection::data:
      return x_;
    case ConvDirection::filters:
      break;
  }
  return filter_;
}

double EngineTimer::error(const ConvShape& part, ConvDirection direction,
                          Arithmetic arithmetic) const {
  return error_of(context_, part, direction, arithmetic, buffers());
}

float EngineTimer::best(ConvExecution& execution, float to_beat) {
  float least = 0;
  for (int i = 0; i < measured_runs; ++i) {
    check(cudaEventRecord(begin_.get(), context_.compute()), "cudaEventRecord");
    run(execution);
    check(cudaEventRecord(end_.get(), context_.compute()), "cudaEventRecord");
    check(cudaEventSynchronize(end_.get()), "cudaEventSynchronize");
    float took = 0;
    check(cudaEventElapsedTime(&took, begin_.get(), end_.get()), "cudaEventElapsedTime");
    least = i == 0 ? took : std::min(least, took);
    if (to_beat > 0 && took > hopeless * to_beat) break;
  }
  return least;
}

}  // namespace feedrate::trainer::cuda
