// `feedrate completion` and `feedrate man`: the scripts are run by the shells that are installed.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "formats/base/kind.h"
#include "formats/container.h"
#include "tests/support/run_program.h"
#include "tools/program/cli/command.h"
#include "trainer/networks/network.h"
#include "trainer/optimizers/optimizer.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

namespace {

using testing::feedrate;
using testing::run_program;
using testing::Said;
using testing::slurp;
using testing::TempDirectory;

using Words = std::set<std::string>;

bool here(const std::string& program) {
  return run_program("sh", {"-c", "command -v " + program}).code == 0;
}

std::string script(const std::string& shell) { return feedrate({"completion", shell}).output; }

/// What bash offers when the last of these words is being typed.
Words completed(const std::vector<std::string>& words) {
  std::string line = script("bash") + "COMP_WORDBREAKS=$' \\n=:'\nCOMP_WORDS=(";
  for (const std::string& word : words) line += "'" + word + "' ";
  line +=
      ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_feedrate\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
  const Said said = run_program("bash", {"-c", line});
  EXPECT_EQ(said.errors, "") << words.back();
  Words offered;
  std::istringstream lines(said.output);
  for (std::string word; std::getline(lines, word);) {
    if (!word.empty()) offered.insert(word);
  }
  return offered;
}

Words set_of(const std::vector<std::string_view>& names) { return {names.begin(), names.end()}; }

TEST(CommandsCompletion, bash_offers_commands_options_and_the_names_of_registries) {
  EXPECT_EQ(completed({"feedrate", "conv"}), Words{"convert"});
  EXPECT_EQ(completed({"feedrate", "help", "rep"}), Words{"report"});
  EXPECT_EQ(completed({"feedrate", "convert", "--sh"}), (Words{"--shards", "--shuffle"}));
  EXPECT_EQ(completed({"feedrate", "convert", "mnist", "x", "--to", ""}),
            set_of(kind_names(containers())));
  EXPECT_EQ(completed({"feedrate", "train", "x", "--network", ""}), set_of(kind_names(networks())));
  EXPECT_EQ(completed({"feedrate", "train", "x", "--optimizer", ""}),
            set_of(kind_names(optimizers())));
  EXPECT_EQ(completed({"feedrate", "load", "--last", "p"}), (Words{"pad", "partial"}));
  EXPECT_EQ(completed({"feedrate", "convert", "cifar1"}), (Words{"cifar10", "cifar100"}));
  EXPECT_EQ(completed({"feedrate", "load", "--seed", ""}), Words{}) << "any number";
}

TEST(CommandsCompletion, bash_knows_words_after_an_equals_sign_and_after_a_comma) {
  EXPECT_EQ(completed({"feedrate", "convert", "--to", "=", "lm"}), Words{"lmdb"});
  EXPECT_EQ(completed({"feedrate", "convert", "--to", "="}), set_of(kind_names(containers())));
  EXPECT_EQ(completed({"feedrate", "bench", "--cache", "warm,c"}), Words{"warm,cold"});
  EXPECT_EQ(completed({"feedrate", "time", "resnet50", ":", "v"}), Words{"v1"});
  EXPECT_EQ(completed({"feedrate", "train", "--network", "=", "resnet50", ":", "v"}), Words{"v1"});
  EXPECT_EQ(completed({"feedrate", "train", "--network", "=", "lenet", "--mode", "i"}),
            Words{"infer"});
}

TEST(CommandsCompletion, bash_offers_files_where_a_path_is_due_and_skips_the_values_of_options) {
  const TempDirectory directory;
  std::filesystem::create_directory(directory / "data set");
  std::ofstream(directory / "data.txt") << "";
  const std::string begin = (directory / "da").string();
  const Words both{(directory / "data set").string(), (directory / "data.txt").string()};
  EXPECT_EQ(completed({"feedrate", "verify", "--threads", "2", begin}), both);
  EXPECT_EQ(completed({"feedrate", "convert", "mnist", "x", begin}), both);
  EXPECT_EQ(completed({"feedrate", "train", "x", "--resume", begin}), both);
  EXPECT_EQ(completed({"feedrate", "synth", "mnist", "--out", begin}),
            Words{(directory / "data set").string()});
}

TEST(CommandsCompletion, every_shell_accepts_its_script) {
  const TempDirectory directory;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string text = script(shell);
    for (const Command* command : commands()) {
      EXPECT_NE(text.find(command->name), std::string::npos) << shell << ": " << command->name;
    }
    std::ofstream(directory / shell) << text;
    if (!here(shell)) continue;
    const Said said = run_program(shell, {"-n", (directory / shell).string()});
    EXPECT_EQ(said.code, 0) << shell << ": " << said.errors;
    EXPECT_EQ(said.errors, "") << shell;
  }
  EXPECT_EQ(feedrate({"completion", "csh"}).code, exit_misused);
}

TEST(CommandsMan, a_page_has_every_option_of_the_help_and_man_formats_it_without_a_warning) {
  const TempDirectory directory;
  ASSERT_EQ(feedrate({"man", "--out", directory.path().string()}).code, exit_done);
  EXPECT_EQ(slurp(directory / "feedrate-convert.1"), feedrate({"man", "convert"}).output);
  EXPECT_EQ(slurp(directory / "feedrate.1"), feedrate({"man"}).output);
  for (const Command* command : commands()) {
    const std::string name(command->name);
    const std::string page = slurp(directory / ("feedrate-" + name + ".1"));
    for (const char* part : {".TH FEEDRATE", ".SH NAME\nfeedrate\\-", ".SH OPTIONS", ".SH EXAMPLES",
                             ".SH EXIT STATUS", "\\-\\-help"}) {
      EXPECT_NE(page.find(part), std::string::npos) << name << ": " << part;
    }
    std::istringstream help(feedrate({name, "--help"}).output);
    for (std::string line; std::getline(help, line);) {
      if (!line.starts_with("  --")) continue;
      std::string roff;
      for (const char c : line.substr(2, line.find(' ', 2) - 2)) {
        roff += c == '-' ? std::string("\\-") : std::string(1, c);
      }
      EXPECT_NE(page.find("\\fB" + roff + "\\fR"), std::string::npos) << name << ": " << line;
    }
  }
  if (!here("man")) GTEST_SKIP() << "man is not here";
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    const std::string line =
        "LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l " + entry.path().string();
    const Said said = run_program("sh", {"-c", line});
    EXPECT_EQ(said.code, 0) << entry.path();
    EXPECT_EQ(said.errors, "") << entry.path();
    EXPECT_NE(said.output.find("EXIT STATUS"), std::string::npos) << entry.path();
  }
}

}  // namespace
}  // namespace feedrate::tools
