#pragma once
// Checkpoints as safetensors: parameters and optimizer state in canonical order, and the integers
// that say where in the data training stood.
//
//   u64le header length | JSON header, padded with spaces | tensors, fp32 little-endian
//   names: "<parameter>" and "optimizer.<slot>.<parameter>"; "__metadata__" holds Position as
//   text, the optimizer's name, how pixels were scaled and, where losses are, their scale

#include <cstdint>
#include <filesystem>
#include <string>

#include "trainer/backends/backend.h"

namespace feedrate::trainer {

struct Position {
  std::string network;
  std::uint64_t seed = 0;
  std::uint64_t step = 0;   // steps done
  std::uint64_t epoch = 0;  // the next batch to train on
  std::uint64_t batch = 0;
  std::uint64_t batch_images = 0;    // what a batch is: images in a whole one,
  std::uint64_t dataset_images = 0;  // and in an epoch
};

/// Written beside and renamed: an interrupted save leaves the old checkpoint whole.
void save_checkpoint(const std::filesystem::path& file, const Session& session,
                     const Position& position);
/// Fills the session. Throws Error naming the file and tensor when anything does not fit;
/// a session that trains needs the state of its own optimizer.
Position load_checkpoint(const std::filesystem::path& file, Session& session);

}  // namespace feedrate::trainer
