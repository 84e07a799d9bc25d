#pragma once
// How far a conversion is that several processes share, from the directories beside its output.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace feedrate::tools {

enum class PieceState : std::uint8_t {
  waiting,  // nothing of it is there
  running,  // a process holds its lock
  failed,   // begun, and no process holds its lock: the same line again continues it
  done,
};

struct PieceStatus {
  std::uint32_t number = 1;
  PieceState state = PieceState::waiting;
  std::uint64_t samples = 0;  // written; of an unfinished piece as its journal last said
  double seconds = 0;         // that a piece took which is done
};

struct ConversionStatus {
  std::filesystem::path path;
  bool whole = false;    // the output has its final name
  bool joining = false;  // all pieces are done, and a process holds the output's lock
  std::vector<PieceStatus> pieces;

  std::uint64_t count(PieceState state) const;
  std::uint64_t samples() const;
  /// Of all pieces that run, if each is as fast as those that are done; nothing while none is done
  /// or none runs.
  std::optional<double> samples_per_second() const;
  /// Until the last piece is done at that rate, if each is as large as those that are done. At most
  /// the time of one piece too long: an unfinished piece says what it has only as often as its
  /// journal does.
  std::optional<double> seconds_left() const;
};

/// Throws Error if neither `out` nor a part of it is there.
ConversionStatus status_of(const std::filesystem::path& out);

std::string status_text(const ConversionStatus& status);
std::string status_json(const ConversionStatus& status);

}  // namespace feedrate::tools
