// The whole way with the real binary, on images made for the purpose: archives, three formats,
// loader, trainer. Bench and report: bench_test.cpp.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/run_program.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
namespace {

using nlohmann::ordered_json;
using testing::feedrate;
using testing::Said;
using testing::TempDirectory;

std::vector<std::string> keys(const ordered_json& object) {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.items()) names.push_back(key);
  return names;
}

/// 600 + 100 images, converted to LMDB.
class CommandsPipeline : public ::testing::Test {
 protected:
  void SetUp() override {
    run({"synth", "mnist", "--images", "600", "--out", at("archives")});
    convert("lmdb");
  }

  std::string at(const std::string& name) const { return (directory_.path() / name).string(); }

  std::string run(const std::vector<std::string>& arguments, int code = exit_done) const {
    const Said said = feedrate(arguments);
    EXPECT_EQ(said.code, code) << arguments.front() << ": " << said.errors << said.output;
    return said.output;
  }

  ordered_json json(std::vector<std::string> arguments, int code = exit_done) const {
    arguments.emplace_back("--json");
    const std::string text = run(arguments, code);
    return text.empty() ? ordered_json() : ordered_json::parse(text);
  }

  ordered_json convert(const std::string& format) const {
    return json({"convert", "mnist", at("archives"), "--to", format, "--split", "all", "--out",
                 at(format)});
  }

 private:
  TempDirectory directory_;
};

TEST_F(CommandsPipeline, every_format_holds_the_same_images) {
  for (const char* format : {"recordio", "tfrecord", "png-map", "webdataset"}) {
    const ordered_json converted = convert(format);
    EXPECT_EQ(keys(converted.at("splits").at(0)),
              (std::vector<std::string>{"split", "path", "codec", "samples", "bytes", "seconds",
                                        "images_per_second", "digest", "set_digest", "bytes_digest",
                                        "resumed_at", "mended", "skipped"}));
    for (const std::string split : {"train", "test"}) {
      const ordered_json verified =
          json({"verify", at("lmdb") + "/" + split, "--against", at(format) + "/" + split});
      EXPECT_EQ(verified.at("equal"), true);
      EXPECT_EQ(verified.at("digest"), verified.at("against").at("digest"));
      EXPECT_TRUE(verified.at("findings").empty());
      EXPECT_TRUE(verified.at("first_difference").is_null());
    }
    EXPECT_EQ(json({"verify", at(format) + "/train"}).at("digest"),
              converted.at("splits").at(0).at("digest"));
  }
}

TEST_F(CommandsPipeline, a_folder_has_one_digest_as_written_and_another_as_read) {
  const ordered_json converted = convert("folder").at("splits").at(0);
  const std::string set = at("folder") + "/train";
  const ordered_json verified = json({"verify", set});
  EXPECT_EQ(converted.at("digest"), json({"verify", at("lmdb/train")}).at("digest"));
  EXPECT_EQ(converted.at("digest"), json({"inspect", set}).at("digest"));
  EXPECT_EQ(converted.at("digest"), verified.at("written_digest"));
  EXPECT_NE(converted.at("digest"), verified.at("digest"));
  EXPECT_EQ(converted.at("bytes_digest"), verified.at("written_bytes_digest"));
  const auto digest = converted.at("digest").get<std::string>();
  EXPECT_NE(run({"verify", set}).find(digest + " as written"), std::string::npos);
  EXPECT_NE(run({"inspect", set}).find(digest + " as written"), std::string::npos);
}

TEST_F(CommandsPipeline, a_part_is_announced_under_the_name_that_it_has) {
  const std::vector<std::string> command{"convert",  "mnist", at("archives"), "--to", "tfrecord",
                                         "--shards", "3",     "--part",       "2/3",  "--out",
                                         at("out")};
  EXPECT_TRUE(run(command).starts_with(at("out") + ".part-2-of-3: 200 images"));
  EXPECT_TRUE(std::filesystem::exists(at("out") + ".part-2-of-3"));
}

TEST_F(CommandsPipeline, datasets_that_differ_exit_1_and_name_the_first_difference) {
  const std::string text =
      run({"verify", at("lmdb/train"), "--against", at("lmdb/test")}, exit_failed);
  EXPECT_NE(text.find("NOT equal: sample 0 differs"), std::string::npos) << text;
  run({"convert", "mnist", at("archives"), "--to", "lmdb", "--limit", "500", "--out", at("less")});
  const ordered_json verified =
      json({"verify", at("lmdb/train"), "--against", at("less")}, exit_failed);
  EXPECT_EQ(verified.at("first_difference"), 500);
}

TEST_F(CommandsPipeline, a_conversion_that_fails_leaves_nothing_under_the_final_name) {
  std::filesystem::resize_file(at("archives") + "/train-images-idx3-ubyte.gz", 20'000);
  const Said said =
      feedrate({"convert", "mnist", at("archives"), "--to", "recordio", "--out", at("cut")});
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_NE(said.errors.find("train-images-idx3-ubyte.gz"), std::string::npos) << said.errors;
  EXPECT_FALSE(std::filesystem::exists(at("cut")));
  run({"convert", "mnist", at("archives"), "--to", "lmdb", "--split", "all", "--out", at("a/b")},
      exit_failed);
  EXPECT_FALSE(std::filesystem::exists(at("a")));
}

TEST_F(CommandsPipeline, what_exists_already_is_not_overwritten) {
  const Said said =
      feedrate({"convert", "mnist", at("archives"), "--to", "lmdb", "--out", at("lmdb/train")});
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_NE(said.errors.find("lmdb/train"), std::string::npos) << said.errors;
  run({"verify", at("lmdb/train")});
}

TEST_F(CommandsPipeline, a_slash_behind_the_name_of_what_is_made_changes_nothing) {
  run({"convert", "mnist", at("archives"), "--to", "lmdb", "--out", at("slash/")});
  run({"verify", at("slash")});
  run({"synth", "mnist", "--images", "10", "--out", at("more/")});
}

TEST_F(CommandsPipeline, what_stands_in_the_way_at_the_end_is_told_before_training) {
  const std::vector<std::string> train{"train", at("lmdb/train"), "--network", "mlp"};
  const auto refused = [&](std::vector<std::string> options, const std::string& part) {
    options.insert(options.begin(), train.begin(), train.end());
    const Said said = feedrate(options);
    EXPECT_EQ(said.code, exit_failed);
    EXPECT_NE(said.errors.find(part), std::string::npos) << said.errors;
  };
  refused({"--checkpoint", at("no/where")}, "no/where: cannot create");
  refused({"--val", at("none"), "--checkpoint", at("made")}, "none: ");
  EXPECT_FALSE(std::filesystem::exists(at("made")));
}

TEST_F(CommandsPipeline, a_checkpoint_goes_on_only_with_its_own_batches) {
  run({"train", at("lmdb/train"), "--network", "mlp", "--steps", "2", "--batch", "50",
       "--checkpoint", at("two")});
  const auto errors = [&](const std::string& dataset, const std::string& batch, int code) {
    const Said said = feedrate({"train", at(dataset), "--network", "mlp", "--steps", "3", "--batch",
                                batch, "--resume", at("two")});
    EXPECT_EQ(said.code, code) << said.errors;
    return said.errors;
  };
  EXPECT_NE(errors("lmdb/train", "20", exit_failed).find("trained with --batch 50, not 20"),
            std::string::npos);
  EXPECT_NE(errors("lmdb/test", "50", exit_failed).find("600 images, not of 100"),
            std::string::npos);
  errors("lmdb/train", "50", exit_done);
}

TEST_F(CommandsPipeline, a_rate_that_one_step_cannot_give_is_null) {
  const ordered_json trained =
      json({"train", at("lmdb/train"), "--network", "mlp", "--steps", "1"});
  EXPECT_TRUE(trained.at("images_per_second").is_null());
  EXPECT_TRUE(trained.at("stall_percent").is_null());
  EXPECT_EQ(trained.at("rate_unknown"),
            "one step is too few, since the clock starts after the first");
  const std::string text = run({"train", at("lmdb/train"), "--network", "mlp", "--steps", "1"});
  const char* const told =
      ": rate unknown: one step is too few, since the clock starts after the first; 1 step of ";
  EXPECT_NE(text.find(told), std::string::npos) << text;
}

TEST_F(CommandsPipeline, inspect_tells_what_it_holds_and_draws_a_sheet) {
  const ordered_json told =
      json({"inspect", at("lmdb/train"), "--samples", "3", "--sheet", at("sheet.png")});
  EXPECT_EQ(told.at("samples"), 600);
  EXPECT_EQ(told.at("classes"), 10);
  EXPECT_EQ(told.at("shape").at("width"), 28);
  EXPECT_EQ(told.at("first").size(), 3U);
  EXPECT_TRUE(testing::slurp(at("sheet.png")).starts_with("\x89PNG"));
}

TEST_F(CommandsPipeline, the_loader_gives_one_digest_at_any_thread_count) {
  std::set<std::string> digests;
  for (const char* threads : {"0", "1", "2", "3", "4", "8"}) {
    const ordered_json loaded =
        json({"load", at("lmdb/train"), "--threads", threads, "--epochs", "2"});
    EXPECT_EQ(fmt::format("{}", fmt::join(keys(loaded), " ")),
              "complete images seconds images_per_second timed_images timed_seconds "
              "rate_unknown ready_images warmup_seconds from_start threads workers_seen auto "
              "batch pixels layout decode shrunk_images repeated_images epochs digest "
              "stall_seconds stall_percent wait_ms_per_step busy limit supply demand "
              "accelerator_utilisation passes cpu_seconds cpu_seconds_per_image "
              "kernel_seconds_per_image peak_rss_bytes bytes_read storage_bytes in_memory "
              "state crops bad device remote peak_rss_mib read_mib core_wait_percent "
              "steal_percent psi_cpu_percent psi_io_percent psi_memory_percent cpu_energy_j");
    EXPECT_EQ(keys(loaded.at("busy")), (std::vector<std::string>{"read", "decode", "augment"}));
    EXPECT_EQ(loaded.at("images"), 1200);
    EXPECT_EQ(loaded.at("epochs"), 2.0);
    digests.insert(loaded.at("digest").get<std::string>());
  }
  EXPECT_EQ(digests.size(), 1U);
}

TEST_F(CommandsPipeline, an_emulated_trainer_sets_the_pace) {
  // How well it was fed depends on what else the machine does; that the report agrees with itself
  // does not.
  const ordered_json loaded =
      json({"load", at("lmdb/train"), "--threads", "1", "--emulate", "600", "--no-digest"});
  EXPECT_TRUE(loaded.at("digest").is_null());
  EXPECT_GT(loaded.at("seconds"), 0.8);  // 600 images at 600 a second
  EXPECT_LE(loaded.at("images_per_second"), 600 * 1.2);
  const double utilisation = loaded.at("accelerator_utilisation");
  EXPECT_GT(utilisation, 0);
  EXPECT_LE(utilisation, 1);
  EXPECT_EQ(loaded.at("passes"), utilisation >= 0.9);
  if (utilisation > 0.97) {  // else the machine was busy with something else
    EXPECT_EQ(loaded.at("limit"), "trainer");
  }
  const std::string slow = run({"load", at("lmdb/train"), "--emulate", "600", "--no-digest"});
  EXPECT_NE(slow.find(" % (MLPerf Storage asks for 90 %)\n"), std::string::npos) << slow;

  const ordered_json starved =
      json({"load", at("lmdb/train"), "--emulate", "1e9", "--seconds", "0.3", "--no-digest"});
  EXPECT_NE(starved.at("limit"), "trainer");
  EXPECT_FALSE(starved.at("passes"));
  EXPECT_TRUE(json({"load", at("lmdb/train"), "--no-digest"}).at("passes").is_null());
}

TEST_F(CommandsPipeline, a_trace_is_one_json_document) {
  run({"load", at("lmdb/train"), "--trace", at("trace.json")});
  EXPECT_TRUE(nlohmann::json::accept(testing::slurp(at("trace.json"))));
}

TEST_F(CommandsPipeline, training_learns) {
  const ordered_json trained = json({"train", at("lmdb/train"), "--val", at("lmdb/test"),
                                     "--network", "lenet", "--epochs", "6", "--batch", "32"});
  EXPECT_EQ(trained.at("parameters"), 431'080);
  EXPECT_EQ(trained.at("images"), 3600);
  EXPECT_GT(trained.at("val_accuracy"), 0.5);  // chance is 0.1
  EXPECT_TRUE(trained.at("gpu_power_w").is_null());
}

TEST_F(CommandsPipeline, a_preset_says_all_that_nobody_else_does) {
  const ordered_json trained =
      json({"train", at("lmdb/train"), "--val", at("lmdb/test"), "--preset", "lenet-modern",
            "--epochs", "4", "--batch", "50", "--val-every", "2"});
  EXPECT_EQ(trained.at("network"), "lenet");
  EXPECT_EQ(trained.at("optimizer"), "nesterov");
  EXPECT_EQ(trained.at("steps"), 48);
  ASSERT_EQ(trained.at("validations").size(), 2U);
  EXPECT_EQ(trained.at("validations")[0].at("step"), 24);
  EXPECT_EQ(trained.at("validations")[1].at("epoch"), 4);
  EXPECT_EQ(trained.at("validations")[1].at("accuracy"), trained.at("val_accuracy"));
  EXPECT_GE(trained.at("val_accuracy5"), trained.at("val_accuracy"));
  // Its length, where nobody names another.
  EXPECT_EQ(
      json({"train", at("lmdb/train"), "--preset", "2018-lenet", "--batch", "2", "--lr", "0.001"})
          .at("steps"),
      938);
}

TEST_F(CommandsPipeline, forward_alone_finds_what_validation_found_and_keeps_features) {
  const ordered_json trained =
      json({"train", at("lmdb/train"), "--val", at("lmdb/test"), "--network", "lenet", "--batch",
            "32", "--epochs", "2", "--checkpoint", at("trained")});
  const ordered_json found = json({"train", at("lmdb/test"), "--network", "lenet", "--mode",
                                   "infer", "--resume", at("trained"), "--batch", "32"});
  EXPECT_EQ(found.at("accuracy"), trained.at("val_accuracy"));
  EXPECT_GT(found.at("seconds_per_1000"), 0);
  const ordered_json kept =
      json({"train", at("lmdb/test"), "--network", "lenet", "--mode", "features", "--resume",
            at("trained"), "--batch", "32", "--out", at("features.npy")});
  EXPECT_EQ(kept.at("feature_shape"), ordered_json({50, 4, 4}));
  EXPECT_TRUE(kept.at("accuracy").is_null());
  const std::string file = testing::slurp(at("features.npy"));
  const std::size_t images = kept.at("images");
  EXPECT_EQ(file.substr(1, 5), "NUMPY");
  EXPECT_NE(file.find(fmt::format("'shape': ({}, 50, 4, 4, )", images)), std::string::npos);
  EXPECT_EQ(file.size(), 128 + images * 800 * sizeof(float));
}

TEST_F(CommandsPipeline, a_training_that_diverges_names_step_layer_and_the_last_checkpoint) {
  const Said said = feedrate(
      {"train", at("lmdb/train"), "--network", "lenet", "--lr", "1e30", "--seconds", "60"});
  EXPECT_EQ(said.code, exit_failed);
  for (const char* part :
       {"step 1: the loss is no longer finite", "is that of ", "no checkpoint"}) {
    EXPECT_NE(said.errors.find(part), std::string::npos) << said.errors;
  }
  const Said saved = feedrate({"train", at("lmdb/train"), "--network", "lenet", "--lr", "1e30",
                               "--checkpoint", at("last"), "--checkpoint-every", "1"});
  EXPECT_NE(saved.errors.find("go back to " + at("last") + ", which stands at step 1"),
            std::string::npos)
      << saved.errors;
}

TEST_F(CommandsPipeline, ways_to_train_that_cannot_be_are_refused) {
  const auto refused = [&](std::vector<std::string> more, int code, std::string_view part) {
    more.insert(more.begin(), {"train", at("lmdb/train")});
    const Said said = feedrate(more);
    EXPECT_EQ(said.code, code);
    EXPECT_NE(said.errors.find(part), std::string::npos) << said.errors;
  };
  refused({}, exit_misused, "--network or --preset is required");
  refused({"--preset", "lenet-moder"}, exit_misused, "did you mean lenet-modern?");
  refused({"--network", "lenet", "--mode", "inferr"}, exit_misused, "did you mean infer?");
  refused({"--network", "lenet", "--optimizer", "adan"}, exit_misused, "did you mean adam?");
  refused({"--network", "lenet", "--schedule", "cosin"}, exit_misused, "did you mean cosine?");
  refused({"--network", "lenet", "--schedule", "exp"}, exit_failed, "fixed or cosine, or inv");
  refused({"--network", "lenet", "--mode", "infer", "--checkpoint", at("x")}, exit_misused,
          "--checkpoint is for --mode train, not --mode infer");
  refused({"--network", "lenet", "--mode", "infer", "--val", at("lmdb/test")}, exit_misused,
          "--val is for --mode train");
  refused({"--network", "lenet", "--steps", "1", "--lr", "1e30", "--val", at("lmdb/test")},
          exit_failed, "step 1: the validation loss is not finite");
  for (const char* share : {"--momentum", "--beta2", "--label-smoothing"}) {
    refused({"--network", "lenet", share, "1"}, exit_misused,
            std::string(share) + ": expected a number of at least 0 and below 1, found '1'");
  }
  for (const auto& [name, optimizer] :
       {std::pair("--beta2", "adam"), std::pair("--epsilon", "rmsprop"),
        std::pair("--trust", "lars")}) {
    refused({"--network", "lenet", "--optimizer", optimizer, name, "0"}, exit_failed,
            std::string(name) + ": expected a number above 0, found 0");
    refused({"--network", "lenet", "--optimizer", "sgd", name, "0.5"}, exit_failed,
            std::string(name) + " has no effect on the optimizer sgd");
  }
  refused({"--network", "lenet", "--mean", "300"}, exit_misused,
          "--mean: expected a number from 0 to 255, found '300'");
  refused({"--network", "lenet", "--mean", "1,2,3"}, exit_failed,
          "3 means for images of 1 channel");
  refused({"--network", "lenet", "--zero-gamma"}, exit_failed, "no residual branch");
  refused({"--preset", "lenet-modern", "--seconds", "1"}, exit_failed, "a cosine schedule ends");
  refused({"--network", "mlp", "--mode", "features", "--out", at("x")}, exit_failed, "no pooling");
}

TEST_F(CommandsPipeline, a_resumed_training_ends_in_the_same_bytes) {
  const std::vector<std::string> train{"train", at("lmdb/train"), "--network", "lenet", "--threads",
                                       "1",     "--seed",         "3"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), train.begin(), train.end());
    return more;
  };
  run(with({"--steps", "12", "--checkpoint", at("straight")}));
  run(with({"--steps", "7", "--checkpoint", at("first")}));
  run(with({"--steps", "12", "--resume", at("first"), "--checkpoint", at("second")}));
  EXPECT_EQ(testing::slurp(at("straight")), testing::slurp(at("second")));

  const Said over = feedrate(with({"--steps", "5", "--resume", at("first")}));
  EXPECT_EQ(over.code, exit_failed);
  EXPECT_NE(over.errors.find("stands at step 7 already, beyond the 5 asked for"), std::string::npos)
      << over.errors;
}
}  // namespace
}  // namespace feedrate::tools
