#pragma once
// Checkpoints in the safetensors format: parameters and optimizer state in canonical order, and the
// integers of the position in the data.
//
//   u64le header length | JSON header, padded with spaces | tensors, fp32 little-endian
//   names: "<parameter>" and "optimizer.<slot>.<parameter>"; "__metadata__" holds Position as
//   text, the optimizer's name, how pixels are scaled and, if losses are scaled, their scale;
//   Position::terms are a JSON object there

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "trainer/backends/backend.h"

namespace feedrate::trainer {

struct Position {
  std::string network;
  std::uint64_t seed = 0;
  std::uint64_t step = 0;            // steps done
  std::uint64_t epoch = 0;           // of the next batch
  std::uint64_t batch = 0;           // the next batch, within its epoch
  std::uint64_t batch_images = 0;    // images in a whole batch
  std::uint64_t dataset_images = 0;  // images in an epoch
  std::string decode{};  // how images were decoded: for whoever reads the file; not read back
  /// Names and values of what decided what was learned, for whoever goes on; empty: not known.
  std::vector<std::pair<std::string, std::string>> terms{};
};

/// Writes a new file and renames it: an interrupted save leaves the old checkpoint intact.
void save_checkpoint(const std::filesystem::path& file, const Session& session,
                     const Position& position);
/// Sets the session's parameters and state, and returns the position. Throws an Error that names
/// the file and tensor when anything does not fit; a session that trains needs the state of its own
/// optimizer.
Position load_checkpoint(const std::filesystem::path& file, Session& session);
/// The position alone. Throws Error when the file is no checkpoint.
Position read_position(const std::filesystem::path& file);

}  // namespace feedrate::trainer
