#pragma once
// Engines on random tensors: whether they work, what they compute, how long they take.

#include "trainer/backends/cuda/context.cuh"
#include "trainer/backends/cuda/products/conv_engine.cuh"

namespace feedrate::trainer::cuda {

/// For one shape, whose tensors it holds. For one thread.
class EngineTimer {
 public:
  /// Throws Error if there is no memory for the tensors.
  EngineTimer(const Context& context, const ConvShape& shape);

  /// Runs it once, on results that are NaN before: what it leaves out is seen. Throws Error if the
  /// engine fails.
  void try_out(ConvExecution& execution, ConvDirection direction);
  /// What try_out() has computed, beside sums in fp64 (conv_check.cuh). `part`: of the shape.
  double error(const ConvShape& part, ConvDirection direction, Arithmetic arithmetic) const;
  /// The best of several runs, in milliseconds; of one, if that is hopeless beside `to_beat`. 0:
  /// there is nothing to beat. Call try_out() first, which loads the kernels.
  float best(ConvExecution& execution, float to_beat);

 private:
  ConvBuffers buffers() const { return {x_.data(), filter_.data(), y_.data(), workspace_.data()}; }
  void wait() const;
  const DeviceMemory& result(ConvDirection direction) const;
  void run(ConvExecution& execution) { execution.run(context_.cudnn(), buffers()); }

  const Context& context_;
  DeviceMemory x_, filter_, y_, workspace_;
  Event begin_, end_;
};

}  // namespace feedrate::trainer::cuda
