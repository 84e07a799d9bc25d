// What was measured of a loader while its loop paused, and what is said of Feedrate's in its place. The figures are
// made up.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/lab/diagnose/made.h"
#include "tools/lab/diagnose/diagnosis.h"

namespace feedrate::tools {
namespace {

using testing::MadeLoop;

/// `loader` of process 1, measured in the process `child`: what `workers` made, 10 samples of `cpu` seconds at a time.
void sweep(Seen& seen, std::uint64_t loader, std::uint64_t child, std::uint64_t workers,
           double cpu) {
  seen.add({1, loader, IteratorMade{child, {child + 1}, workers}});
  BatchesMade made{child, {}};
  for (int i = 0; i < 4; ++i) made.batches.push_back({.end = cpu, .samples = 10, .cpu = cpu});
  seen.add({child + 1, 0, made});
}

TEST(UnitDiagnose, predicts_from_what_was_measured_of_this_loader) {
  Seen seen = MadeLoop{.workers = 1}.seen();
  seen.loaders[{1, 2}].made.where = "train.py:40";
  sweep(seen, 1, 50, 1, 0.01);
  sweep(seen, 2, 60, 1, 0.1);
  seen.add({1, 2, Swept{.workers = 1, .batches = 10, .time = 1}});
  seen.finish();
  const Diagnosis found = diagnose(seen, {"python", "train.py"}, 4);
  EXPECT_NEAR(found.curve.at(1).predicted, 1000, 1e-6);
  EXPECT_FALSE(found.curve.at(1).measured) << "that was the other one";
  EXPECT_NE(found.text(200).find("not measured, since the pause came in the loop over the "),
            std::string::npos)
      << found.text(200);
}

TEST(UnitDiagnoseSwap, shows_what_the_scripts_own_loader_supplied) {
  Seen seen = MadeLoop{.workers = 2}.seen();
  LoaderSeen& swapped = seen.loaders.begin()->second;
  swapped.work = {};
  swapped.made.samples = 7.5;
  swapped.swap.made = Swapped{.threads = 2};
  swapped.swap.before = Supplied{.batches = 20, .time = 1};
  sweep(seen, 1, 50, 2, 0.07);
  seen.finish();
  const Diagnosis found = diagnose(seen, {"python", "train.py"}, 4);
  EXPECT_NEAR(*found.curve.at(2).measured, 200, 1e-6);
  EXPECT_NEAR(found.curve.at(2).predicted, 2 * 10 / 0.07, 1e-6);
  EXPECT_EQ(found.loops.front().samples, 7.5) << "no worker said so";
  const std::string text = found.text(200);
  EXPECT_NE(text.find("samples/s of your own loader alone."), std::string::npos) << text;
  EXPECT_EQ(text.find("  now"), std::string::npos) << text;
}

TEST(UnitDiagnoseSwap, is_measured_in_turns) {
  Seen seen = MadeLoop{}.seen();
  for (const bool swapped : {false, true, false, true}) {
    seen.add({1, 1, Supplied{.swapped = swapped, .batches = swapped ? 40U : 10U, .time = 0.5}});
  }
  const SwapSeen& swap = seen.loaders.begin()->second.swap;
  EXPECT_EQ(swap.before->batches, 20U);
  EXPECT_EQ(swap.after->batches, 80U);
  EXPECT_EQ(swap.after->time, 1.0);
}

TEST(UnitDiagnoseSwap, tells_what_both_supply_and_how_their_pixels_differ) {
  Seen seen = MadeLoop{}.seen();
  for (
      const char* line :
      {R"({"event":"swapped","pid":1,"loader":1,"name":"train_loader","data":"d","threads":2,"notes":["a"]})",
       R"({"event":"difference","pid":9,"owner":1,"loader":1,"largest":1,"mean":0.25,"samples":100,"left_out":["color-jitter"]})",
       R"({"event":"before","pid":9,"owner":1,"loader":1,"batches":10,"time":1000000000})",
       R"({"event":"after","pid":1,"loader":1,"batches":45,"time":1000000000})"}) {
    seen.add(read_event(line));
  }
  const Diagnosis found = diagnose(seen, {"python", "train.py"}, 4);
  EXPECT_TRUE(found.causes.empty()) << "those are of the loader that is not there any more";
  const std::string text = found.text(200);
  for (const char* words :
       {"Feedrate's loader is the limit", "2 threads of Feedrate's", "100 samples/s with 2 workers",
        "450: 4.5 times", "100 samples, 0 … 255, differ by 0.25 in the mean, and by 1 at most",
        "Not compared: color-jitter", "Mind: a.",
        "train_loader = feedrate.torch.like(train_loader)"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
  const auto swap = nlohmann::json::parse(found.json()).at("loops").at(0).at("swap");
  EXPECT_EQ(swap.at("supply_before"), 100);
  EXPECT_EQ(swap.at("supply_after"), 450);
  EXPECT_EQ(swap.at("not_compared"), nlohmann::json::array({"color-jitter"}));
}

TEST(UnitDiagnoseSwap, says_once_what_is_of_all_loaders_that_are_made_alike) {
  Seen seen = MadeLoop{}.seen();
  seen.add({1, 1, Swapped{.threads = 2}});
  const LoaderSeen one = seen.loaders.at({1, 1});
  seen.add({1, 1, PixelsDiffer{.largest = 1, .mean = 0.5, .samples = 9, .left_out = {}}});
  seen.loaders[{1, 2}] = one;
  seen.loaders[{2, 1}] = one;
  seen.loaders[{2, 1}].rank = 1;
  const std::string text = diagnose(seen, {"python", "train.py"}, 4).text(200);
  const auto count = [&](std::string_view words) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("Swapped: Set, train.py:31"), 1U) << text;
  EXPECT_EQ(count("9 samples"), 1U) << text;
  EXPECT_EQ(count("Set, train.py:31 (2 loaders)"), 1U) << text;
  EXPECT_EQ(count("      80    75 %"), 1U) << text;
}

TEST(UnitDiagnoseSwap, says_what_to_write_wherever_the_loader_is_made) {
  const auto told = [](const Swapped& made) {
    Seen seen = MadeLoop{}.seen();
    seen.add({1, 1, made});
    return diagnose(seen, {"python", "train.py"}, 4).text(200);
  };
  for (const auto& [made, words] : std::vector<std::pair<Swapped, std::string>>{
           {{.name = "loader", .here = true},
            "train.py:31:\n    import feedrate.torch\n    loader = "},
           {{.here = true}, "like(DataLoader(…)) for the DataLoader(…) in train.py:31."},
           {{.method = "train_dataloader()"},
            "let train_dataloader() return feedrate.torch.like() of"},
           {{.method = "train_dataloader()", .shared = true},
            "let train_dataloader() return feedrate.torch.like(…, shared=True) of"},
           {{.shared = true}, "take feedrate.torch.like(…, shared=True) of"},
           {{}, "of the DataLoader that train.py:31 gives to a library."}}) {
    EXPECT_NE(told(made).find(words), std::string::npos) << words << "\n" << told(made);
  }
}

TEST(UnitDiagnoseSwap, tells_how_many_samples_the_script_decoded_itself) {
  Seen seen = MadeLoop{}.seen();
  seen.add({1, 1, Swapped{.threads = 2}});
  seen.add(
      read_event(R"({"event":"stood_in","pid":1,"loader":1,"count":3,"why":"a.jpg is a GIF"})"));
  const Diagnosis found = diagnose(seen, {"python", "train.py"}, 4);
  EXPECT_NE(found.text(200).find("Mind: 3 samples left to the script's own decoding, since "
                                 "Feedrate could not: a.jpg is a GIF."),
            std::string::npos)
      << found.text(200);
  EXPECT_EQ(nlohmann::json::parse(found.json()).at("loops").at(0).at("swap").at("stand_ins"), 3);
}

TEST(UnitDiagnoseSwap, counts_batches_where_their_size_is_not_known) {
  Seen seen = MadeLoop{.workers = 2}.seen();
  LoaderSeen& swapped = seen.loaders.begin()->second;
  swapped.work = {};
  swapped.made.batch.reset();
  swapped.swap.made = Swapped{.threads = 2};
  swapped.swap.before = Supplied{.batches = 20, .time = 1};
  swapped.swap.after = Supplied{.swapped = true, .batches = 60, .time = 1};
  const auto diagnosed = [&] { return diagnose(seen, {"python", "train.py"}, 4); };
  EXPECT_NE(
      diagnosed().text(200).find("20.0 batches/s with 2 workers, and Feedrate's 60.0: 3 times"),
      std::string::npos)
      << diagnosed().text(200);
  const auto swap = nlohmann::json::parse(diagnosed().json()).at("loops").at(0).at("swap");
  EXPECT_TRUE(swap.at("supply_before").is_null());
  sweep(seen, 1, 50, 2, 0.07);
  seen.finish();
  EXPECT_NE(diagnosed().text(200).find("200 samples/s with 2 workers, and Feedrate's 600"),
            std::string::npos)
      << "its workers said how many: " << diagnosed().text(200);
}

TEST(UnitDiagnoseSwap, is_told_of_loops_that_are_too_short_to_measure) {
  Seen seen = MadeLoop{.steps = 3}.seen();
  seen.add({1, 1, Swapped{.threads = 2}});
  const std::string text = diagnose(seen, {"python", "train.py"}, 4).text(200);
  EXPECT_TRUE(text.starts_with("No diagnosis: ")) << text;
  EXPECT_NE(text.find("\nSwapped: Set, train.py:31, for 2 threads"), std::string::npos) << text;
}

TEST(UnitDiagnoseSwap, tells_why_a_loader_was_left) {
  Seen seen = MadeLoop{}.seen();
  seen.add({1, 1, Swapped{.threads = 2}});
  seen.add(read_event(R"({"event":"left","pid":1,"loader":1,"why":"Blur is no part of recipes"})"));
  const Diagnosis found = diagnose(seen, {"python", "train.py"}, 4);
  EXPECT_FALSE(found.causes.empty());
  EXPECT_NE(found.text(200).find("Left as it is: Set, train.py:31: Blur is no part of recipes."),
            std::string::npos);
  EXPECT_EQ(found.text(200).find("Swapped"), std::string::npos) << "it was for a moment";
  const auto swap = nlohmann::json::parse(found.json()).at("loops").at(0).at("swap");
  EXPECT_FALSE(swap.at("swapped"));
  EXPECT_TRUE(swap.at("supply_before").is_null());
}

}  // namespace
}  // namespace feedrate::tools
