#pragma once
// Convolutions as plain loops, and the engines that compute them. Six of the ten either do not keep
// our promises or do not work.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "cudnn_descriptor.h"

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace feedrate::emulation {

struct Engine {
  std::int64_t number;
  std::vector<std::pair<cudnnBackendKnobType_t, std::int64_t>> knobs;
  std::vector<cudnnBackendNumericalNote_t> notes;
  std::size_t workspace = 1000;
  bool builds = true;
  bool runs = true;
};

/// In the order in which heuristics offer them.
std::vector<const Engine*> engines_of(cudnnBackendHeurMode_t mode);

/// What a plan for it needs.
std::size_t workspace_of(const Engine& engine, const Descriptor& operation);

/// The check when an operation is finalized: its tensors must have matching types and shapes.
cudnnStatus_t check_operation(const Descriptor& operation);

/// Runs on the handle's stream. `at` is where the tensors lie, by their uids.
cudnnStatus_t convolve(cudnnHandle_t handle, const Descriptor& operation, const Engine& engine,
                       const std::map<std::int64_t, void*>& at, void* workspace);

}  // namespace feedrate::emulation
