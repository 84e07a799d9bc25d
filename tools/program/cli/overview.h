#pragma once
// The text of `feedrate --help`, and what the manual page of the program shares with it.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "tools/program/cli/command.h"

namespace feedrate::tools {

inline constexpr std::string_view summary_of_program =
    "Fast image loading for training: load, convert, benchmark, diagnose";
inline constexpr std::string_view typical_session[] = {
    "feedrate convert mnist archives --to lmdb --split all --out data",
    "feedrate verify data/train", "feedrate advise data/train --target 100000",
    "feedrate train data/train --val data/test --network lenet --epochs 1"};

/// "Find the bottleneck"
std::string_view job_heading(Job job);

struct Question {
  std::string_view question;
  std::string_view answer;  // a command, without "feedrate"
};
/// Which command answers which question.
std::span<const Question> questions();

std::string overview(std::size_t columns);

}  // namespace feedrate::tools
