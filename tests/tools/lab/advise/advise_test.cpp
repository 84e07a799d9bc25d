// `feedrate advise`: which formats are tried, what is predicted for them, and what is printed. The
// rates in the tests of predictions are made up.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "formats/crops/crop_index.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"
#include "tools/lab/advise/advice.h"
#include "tools/lab/advise/candidate.h"
#include "tools/lab/advise/trial.h"
#include "tools/lab/advise/turns.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;

namespace {

using namespace testing;
using nlohmann::ordered_json;

Supply supply(unsigned threads, double rate) {
  return {.threads = threads, .rates = {rate}, .read = 1e-4, .decode = 7e-4, .augment = 2e-4};
}

/// One thread gives `one`, four give `four`.
Variant variant(double one, double four) {
  return {.name = "made up", .at_min = supply(1, one), .at_max = supply(4, four), .bytes = 1000};
}

TEST(UnitAdvise, an_images_cost_grows_evenly_from_one_thread_to_the_most) {
  const Variant even = variant(1000, 4000);
  EXPECT_DOUBLE_EQ(even.supply(3), 3000);
  const Variant slower =
      variant(1000, 2000);  // an image costs 1 ms of one thread, 2 ms of each of four
  EXPECT_DOUBLE_EQ(slower.supply(1), 1000);
  EXPECT_DOUBLE_EQ(slower.supply(2), 2 / (1e-3 + 1e-3 / 3));
  EXPECT_DOUBLE_EQ(slower.supply(4), 2000);
  Variant cold = even;
  cold.extra_read = 1e-3;
  EXPECT_DOUBLE_EQ(cold.supply(4), 2000);
}

TEST(UnitAdvise, a_device_takes_the_lesser_of_supply_and_demand) {
  const Consumer device{.demand = 2500};
  EXPECT_DOUBLE_EQ(delivered(variant(1000, 4000), device, 2), 2000);
  EXPECT_DOUBLE_EQ(delivered(variant(1000, 4000), device, 3), 2500);
  const Prediction found = predict(variant(1000, 4000), device);
  EXPECT_EQ(found.threads, 3U);
  EXPECT_EQ(found.verdict.limit, Limit::trainer);
  EXPECT_EQ(predict(variant(500, 2000), device).verdict.limit, Limit::decode);
  EXPECT_EQ(predict(variant(500, 2000), device).threads, 4U);
}

TEST(UnitAdvise, a_trainer_on_the_processor_shares_its_cores) {
  // 1,000 images/s on two cores: 2 ms of a core for an image; the loader costs another 2 ms.
  const Consumer trainer{.demand = 1000, .shares_cores = true, .cores = 2};
  EXPECT_DOUBLE_EQ(delivered(variant(500, 2000), trainer, 4), 500);
  EXPECT_DOUBLE_EQ(delivered(variant(1e9, 4e9), trainer, 1), 1 / (1e-3 + 0.5e-9));
  // The loader takes a fifth of the time, so a fifth of its doubt counts.
  Variant doubtful = variant(2000, 8000);
  doubtful.doubt = 0.1;
  EXPECT_NEAR(predict(doubtful, trainer).doubt, 0.02, 1e-12);
}

TEST(UnitAdvise, a_loader_that_costs_next_to_nothing_needs_no_threads) {
  const Consumer trainer{.demand = 8840, .shares_cores = true, .cores = 2};
  const Prediction found = predict(variant(600'000, 1'000'000), trainer);
  EXPECT_EQ(found.threads, 0U);
  EXPECT_DOUBLE_EQ(found.supply, 600'000);
  EXPECT_EQ(found.verdict.limit, Limit::trainer);
}

TEST(UnitAdvise, says_of_every_number_of_threads_why_it_was_chosen_or_not) {
  using enum Considered::Outcome;
  const Prediction found = predict(variant(1000, 4000), {.demand = 2500});
  ASSERT_EQ(found.curve.size(), 5U);
  const double alone = 1 / (1 / 2500.0 + 1e-3);
  const std::vector<double> rates = {alone, 1000, 2000, 2500, 2500};
  const std::vector outcomes = {slower, slower, slower, chosen, no_faster};
  for (unsigned threads = 0; threads <= 4; ++threads) {
    EXPECT_EQ(found.curve[threads].threads, threads);
    EXPECT_DOUBLE_EQ(found.curve[threads].delivered, rates[threads]);
    EXPECT_EQ(found.curve[threads].outcome, outcomes[threads]) << threads;
  }
  // Threads that take cores from the trainer make it slower.
  const Consumer trainer{.demand = 1000, .shares_cores = true, .cores = 4};
  EXPECT_EQ(predict(variant(20'000, 2000), trainer).curve.back().outcome, slower);
  EXPECT_EQ(predict(variant(1000, 4000), {}).curve.front().threads, 1U) << "nobody else loads";
}

TEST(UnitAdvise, a_target_takes_no_core_of_the_loaders) {
  Variant half = variant(1041, 4000);
  half.at_max = supply(2, 2111);
  const Prediction found = predict(half, {.demand = 20'000, .cores = 2});
  EXPECT_EQ(found.threads, 2U);
  EXPECT_DOUBLE_EQ(found.delivered, 2111);
  EXPECT_EQ(found.verdict.limit, Limit::decode);
  EXPECT_EQ(found.verdict.remedy, Remedy::cores);
}

TEST(UnitAdvise, without_a_consumer_the_best_rate_is_predicted) {
  const Prediction found = predict(variant(1000, 4000), Consumer{});
  EXPECT_EQ(found.threads, 4U);
  EXPECT_DOUBLE_EQ(found.delivered, 4000);
  EXPECT_EQ(found.verdict.limit, Limit::decode);
}

TEST(UnitAdvise, the_slices_tell_how_sure_a_rate_is) {
  Supply uneven = supply(2, 0);
  uneven.rates = {900, 1000, 1100};
  EXPECT_DOUBLE_EQ(uneven.rate(), 1000);
  EXPECT_DOUBLE_EQ(uneven.doubt(), 0.1);
  EXPECT_DOUBLE_EQ(uneven.cost(), 0.002);
}

/// Advice for 100,000 images, of which the present format delivers `now` images/s.
Advice advice_at(double now, Consumer consumer) {
  Advice advice;
  advice.dataset = "sets/one";
  advice.images = 100'000;
  advice.recipe = "none";
  advice.batch = 64;
  advice.consumer_name = "a device";
  advice.consumer = consumer;
  advice.present = variant(now / 4, now);
  advice.now = predict(advice.present, consumer);
  return advice;
}

void add(Advice& advice, const std::string& name, Variant variant, std::uint64_t bytes,
         bool fits = true) {
  variant.name = name;
  variant.bytes = bytes;
  const Prediction prediction = predict(variant, advice.consumer);
  advice.alternatives.push_back(
      {std::move(variant), prediction, 1.5, join("convert to ", name), fits});
}

TEST(UnitAdvise, advises_what_delivers_most_then_what_takes_fewer_threads_then_fewer_bytes) {
  Advice advice = advice_at(1000, {.demand = 3000});
  add(advice, "twice", variant(500, 2000), 10);
  add(advice, "large", variant(3000, 12000), 900);
  add(advice, "small", variant(3100, 12400), 300);
  add(advice, "slow but tiny", variant(750, 3000), 1);
  add(advice, "too large", variant(9000, 36000), 0, false);
  ASSERT_NE(advice.best(), nullptr);
  EXPECT_EQ(advice.best()->variant.name, "small");
  const std::string text = advice.text();
  EXPECT_TRUE(text.starts_with(
      "This machine reaches 33 % of a device (3,000 images/s). Feeding it takes about 12 cores with made\n"
      "up, 6 with twice, 4 with slow but tiny, 1 with large, 1 with small.\n"))
      << text;
  EXPECT_NE(text.find("convert to small\n"), std::string::npos);
  EXPECT_NE(text.find("3.0 times as many"), std::string::npos) << text;
  EXPECT_EQ(ordered_json::parse(advice.json()).at("advised"), "small");
}

TEST(UnitAdvise, a_gain_smaller_than_its_doubt_is_not_advised) {
  Advice advice = advice_at(1000, {.demand = 3000});
  Variant doubtful = variant(275, 1100);
  doubtful.doubt = 0.2;
  add(advice, "doubtful", doubtful, 10);
  EXPECT_EQ(advice.best(), nullptr);
  EXPECT_NE(advice.text().find("No conversion that was tried would deliver clearly more."),
            std::string::npos);
  add(advice, "sure", variant(275, 1100), 10);
  ASSERT_NE(advice.best(), nullptr);
  EXPECT_EQ(advice.best()->variant.name, "sure");
}

TEST(UnitAdvise, a_device_that_is_fed_needs_no_conversion) {
  Advice advice = advice_at(8000, {.demand = 3000, .cores = 4});
  add(advice, "quicker", variant(9000, 36000), 10);
  EXPECT_EQ(advice.best(), nullptr);
  EXPECT_TRUE(advice.text().starts_with(
      "2 loader threads are enough for a device (3,000 images/s): loading takes about 1.5 cores.\n"
      "No conversion is needed.\n"))
      << advice.text();
  EXPECT_NE(
      advice.text().find("\n  threads     supply/s  delivered/s\n"
                         "        0        2,000        1,200  slower\n"
                         "        1        2,000        2,000  slower\n"
                         "→       2        4,000        3,000\n"
                         "        3        6,000        3,000  no faster than 2\n"
                         "        4        8,000        3,000  no faster than 2\n"
                         "This machine has 4 cores, so more than 4 threads were not considered.\n"),
      std::string::npos)
      << advice.text();
  const auto curve = ordered_json::parse(advice.json()).at("now").at("curve");
  EXPECT_EQ(curve.at(1).at("ruled_out"), "slower");
  EXPECT_TRUE(curve.at(2).at("ruled_out").is_null());
}

TEST(UnitAdvise, a_long_curve_is_shown_in_part) {
  Advice advice = advice_at(8000, {.demand = 3000, .cores = 64});
  advice.present.at_max = supply(64, 128'000);
  advice.now = predict(advice.present, advice.consumer);
  const std::string text = advice.text();
  for (const char* shown : {"\n        3 ", "\n        8 ", "\n       64 "}) {
    EXPECT_NE(text.find(shown), std::string::npos) << shown << text;
  }
  EXPECT_EQ(text.find("\n       63 "), std::string::npos) << text;
  EXPECT_EQ(ordered_json::parse(advice.json()).at("now").at("curve").size(), 65U);
}

std::vector<std::string> tried(const char* format, const Codec& codec, Shape shape,
                               const char* augment) {
  const TempDirectory directory;
  write_dataset(container(format), codec, directory / "set", make_examples(shape, 5));
  const std::unique_ptr<Dataset> dataset = open_dataset(directory / "set");
  std::vector<std::string> names;
  for (const Candidate& one : candidates(*dataset, survey(*dataset), recipe(augment))) {
    names.push_back(one.name());
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(UnitAdvise, photographs_are_tried_smaller_where_the_recipe_resizes_them_anyway) {
  const Shape photograph{400, 500, 3};
  EXPECT_EQ(tried("tfrecord", jpeg_codec, photograph, "imagenet-train"),
            (Names{"the same files + crop index", "tfrecord packed", "tfrecord jpeg:90",
                   "tfrecord jpeg:90 short:256", "lmdb raw short:256"}));
  EXPECT_EQ(tried("png-map", jpeg_codec, photograph, "imagenet-train"),
            (Names{"the same files + crop index", "recordio keep", "recordio packed",
                   "recordio jpeg:90", "recordio jpeg:90 short:256", "lmdb raw short:256"}));
  EXPECT_EQ(tried("lmdb", jpeg_codec, photograph, "none"),
            (Names{"lmdb packed", "lmdb jpeg:90", "lmdb raw"}));
  EXPECT_EQ(tried("lmdb", raw_codec, {300, 300, 3}, "imagenet-train"), (Names{"lmdb jpeg:90"}));
}

TEST(UnitAdvise, small_images_keep_every_bit) {
  EXPECT_EQ(tried("recordio", png_codec, {32, 32, 3}, "cifar-train"), (Names{"lmdb raw"}));
  EXPECT_EQ(tried("lmdb", raw_codec, {28, 28, 1}, "mnist"), Names{});
}

TEST(UnitAdvise, a_trial_of_a_crop_index_keeps_the_bytes_and_adds_a_few) {
  const TempDirectory directory;
  write_dataset(container("folder"), jpeg_codec, directory / "set",
                make_examples({200, 200, 3}, 4, true));
  const std::unique_ptr<Dataset> dataset = open_dataset(directory / "set");
  const Candidate crops{&container("folder"), {}, {}, true};
  const Trial trial = try_candidate(crops, *dataset, {.indices = {0, 2}, .doubt = 0, .bytes = {}});
  ASSERT_EQ(trial.dataset->size(), 2U);
  EXPECT_TRUE(find_crop_index(*trial.dataset).index);
  Scratch tried, whole;
  EXPECT_EQ(as_text(trial.dataset->read(1, tried).bytes), as_text(dataset->read(2, whole).bytes));
  EXPECT_EQ(crops.command("a set"), "feedrate index 'a set' --crops");
}

TEST(UnitAdvise, a_trial_holds_the_images_that_were_drawn) {
  const TempDirectory directory;
  const std::vector<Example> examples = make_examples({8, 8, 3}, 12);
  write_dataset(container("recordio"), png_codec, directory / "set", examples);
  const std::unique_ptr<Dataset> dataset = open_dataset(directory / "set");
  const Candidate raw{&container("lmdb"), parse_encoding("raw"), {}};
  const TrialSample drawn{.indices = {1, 5, 9}, .doubt = 0.25, .bytes = {}};
  const Trial trial = try_candidate(raw, *dataset, drawn);
  ASSERT_EQ(trial.dataset->size(), 3U);
  Scratch tried, whole;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(trial.dataset->read(i, tried).name, dataset->read(drawn.indices[i], whole).name);
    EXPECT_EQ(trial.dataset->read(i, tried).label, dataset->read(drawn.indices[i], whole).label);
  }
  EXPECT_DOUBLE_EQ(trial.variant.doubt, 0.25);  // raw images of one size add nothing
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(trial.scratch->path())) {
    bytes += entry.file_size();
  }
  EXPECT_EQ(trial.variant.bytes, 4 * bytes);
}

TEST(UnitAdvise, the_command_can_be_pasted_whatever_the_path) {
  const Candidate one{&container("lmdb"), parse_encoding("raw"), parse_resize("short:256")};
  EXPECT_EQ(one.command("/sets/it's one"),
            "feedrate convert dataset '/sets/it'\\''s one' --to lmdb --encode raw --resize "
            "short:256 --out '/sets/it'\\''s one-lmdb-raw-short-256'");
  EXPECT_EQ(one.out("/sets/one/"), "/sets/one-lmdb-raw-short-256");
}

TEST(UnitAdvise, measurements_to_compare_take_turns) {
  const TempDirectory directory;
  write_dataset(container("lmdb"), raw_codec, directory / "set", make_examples({8, 8, 1}, 50));
  const auto dataset = open_dataset(directory / "set");
  Variant a;
  Variant b;
  const std::vector<Subject> subjects = {{dataset.get(), &a}, {dataset.get(), &b}};
  std::vector<std::size_t> measured;  // slices of a and of b at the end of each round
  Turns turns{.rounds = 2, .max_threads = 2};
  turns.supply = {.loader = {.batch = 10}, .seconds = 0.01};
  turns.demand = [&] {
    measured.insert(measured.end(), {a.at_min.rates.size(), b.at_max.rates.size()});
    return 7.0;
  };
  EXPECT_EQ(measure_in_turns(subjects, recipe("none"), turns), (std::vector<double>{7, 7}));
  EXPECT_EQ(measured, (std::vector<std::size_t>{1, 1, 2, 2}));
  EXPECT_EQ(b.at_min.threads, 1U);
  EXPECT_EQ(b.at_max.threads, 2U);
  EXPECT_GT(b.at_max.read + b.at_max.decode + b.at_max.augment, 0);
}

TEST(CommandsAdvise, measures_tries_and_names_a_conversion_that_works) {
  const TempDirectory directory;
  const std::filesystem::path set = directory / "set";
  write_dataset(container("png-map"), png_codec, set, make_examples({32, 32, 3}, 300));
  const Said said = feedrate({"advise", set.string(), "--recipe", "cifar-train", "--target", "1e12",
                              "--seconds", "1", "--batch", "10", "--json"});
  ASSERT_EQ(said.code, exit_done) << said.errors;
  const auto advice = ordered_json::parse(said.output);
  EXPECT_EQ(advice.at("images"), 300);
  EXPECT_EQ(advice.at("demand"), 1e12);
  EXPECT_GT(advice.at("now").at("delivered").get<double>(), 0);
  ASSERT_EQ(advice.at("alternatives").size(), 2U);
  for (const auto& other : advice.at("alternatives")) {
    EXPECT_GT(other.at("delivered").get<double>(), 0);
    EXPECT_GT(other.at("bytes").get<std::uint64_t>(), 0U);
  }
  EXPECT_EQ(advice.at("alternatives").at(1).at("kept_as"), "lmdb raw");
  EXPECT_EQ(advice.at("alternatives").at(1).at("command"),
            join("feedrate convert dataset ", set.string(), " --to lmdb --encode raw --out ",
                 set.string(), "-lmdb-raw"));
  const Said converted = feedrate({"convert", "dataset", set.string(), "--to", "lmdb", "--encode",
                                   "raw", "--out", set.string() + "-lmdb-raw"});
  EXPECT_EQ(converted.code, exit_done) << converted.errors;
}

TEST(CommandsAdvise, feeds_a_network_too) {
  const TempDirectory directory;
  const std::filesystem::path set = directory / "set";
  write_dataset(container("lmdb"), raw_codec, set, make_examples({28, 28, 1}, 300));
  const Said said = feedrate({"advise", set.string(), "--network", "lenet", "--seconds", "1"});
  ASSERT_EQ(said.code, exit_done) << said.errors;
  EXPECT_NE(said.output.find("lenet on cpu ("), std::string::npos) << said.output;
  EXPECT_NE(said.output.find("No conversion is needed."), std::string::npos) << said.output;
}

TEST(HostileAdvise, a_network_and_a_target_exclude_each_other_and_names_are_checked_first) {
  const TempDirectory directory;
  const std::filesystem::path set = directory / "set";
  write_dataset(container("lmdb"), raw_codec, set, make_examples({28, 28, 1}, 3));
  EXPECT_EQ(feedrate({"advise", set.string(), "--network", "lenet", "--target", "3"}).code,
            exit_misused);
  EXPECT_EQ(feedrate({"advise", set.string(), "--device", "cpu"}).code, exit_misused);
  EXPECT_EQ(feedrate({"advise", set.string(), "--target", "0"}).code, exit_misused);
  const Said unknown = feedrate({"advise", set.string(), "--network", "lenett"});
  EXPECT_EQ(unknown.code, exit_misused);
  EXPECT_EQ(unknown.errors.find("measuring"), std::string::npos) << unknown.errors;
}

}  // namespace
}  // namespace feedrate::tools
