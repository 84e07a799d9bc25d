#include "tools/program/cli/overview.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <vector>

#include "tools/console/bars.h"
#include "tools/program/cli/page.h"
#include "tools/program/cli/topics.h"

namespace feedrate::tools {
namespace {

constexpr std::size_t command_columns = 13;   // of commands
constexpr std::size_t question_columns = 38;  // of questions

// In the order of the enumerators.
constexpr std::string_view headings[] = {"Find the bottleneck", "Data", "Measure", "Train",
                                         "Shell"};

constexpr Question asked[] = {{"Why is my PyTorch script slow?", "diagnose -- python train.py"},
                              {"How many threads, which format?", "advise DATASET --target RATE"},
                              {"Is this dataset intact? What is in it?", "verify, inspect"},
                              {"How fast does this dataset load?", "load DATASET"},
                              {"Which is faster, and by how much?", "bench, then report"}};

}  // namespace

std::string_view job_heading(Job job) { return headings[static_cast<std::size_t>(job)]; }
std::span<const Question> questions() { return asked; }

std::string overview(std::size_t columns) {
  std::vector<std::string_view> names;
  for (const Topic& topic : topics()) names.push_back(topic.name);
  std::string text =
      wrapped(summary_of_program, 0, columns) +
      "\n\nUsage: feedrate COMMAND …\n"
      "       feedrate COMMAND -h    common options; --help: all options, explained\n"
      "       feedrate help TOPIC    " +
      wrapped(fmt::format("{}", fmt::join(names, ", ")), 30, columns) + "\n\nWhich command?\n";
  for (const Question& row : questions()) {
    text += fmt::format("  {:<{}}  feedrate {}\n", row.question, question_columns, row.answer);
  }
  std::optional<Job> job;
  for (const Command* command : commands()) {
    if (job != command->job) text += fmt::format("\n{}:\n", job_heading(command->job));
    job = command->job;
    text += fmt::format("  {:<{}}{}\n", command->name, command_columns - 2,
                        wrapped(command->summary, command_columns, columns));
  }
  text += "\nExample, with the files of MNIST or Fashion-MNIST in archives/:\n";
  for (const std::string_view line : typical_session) text += example_text(line, columns);
  return text;
}

}  // namespace feedrate::tools
