// `feedrate train --json` with the real binary.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "formats/io/file.h"
#include "tests/support/run_program.h"
#include "tests/tools/powercap.h"
#include "tools/lab/jobs/train_report.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace trainer;

namespace {

using nlohmann::ordered_json;
using testing::feedrate;
using testing::Said;
using testing::TempDirectory;

/// 300 images in an LMDB.
class CommandsTrain : public ::testing::Test {
 protected:
  void SetUp() override {
    run({"synth", "mnist", "--images", "300", "--out", at("archives")});
    run({"convert", "mnist", at("archives"), "--to", "lmdb", "--out", at("lmdb")});
    run({"convert", "mnist", at("archives"), "--to", "lmdb", "--limit", "3", "--out", at("few")});
  }

  std::string at(const std::string& name) const { return (directory_.path() / name).string(); }

  std::string run(const std::vector<std::string>& arguments) const {
    const Said said = feedrate(arguments);
    EXPECT_EQ(said.code, exit_done) << arguments.front() << ": " << said.errors << said.output;
    return said.output;
  }

  ordered_json train(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"train", at("lmdb"), "--network", "lenet", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return ordered_json::parse(run(arguments));
  }

 private:
  TempDirectory directory_;
};

TEST_F(CommandsTrain, prints_the_documented_keys_in_order) {
  const ordered_json trained = train({"--steps", "2"});
  std::string keys;
  for (const auto& [key, value] : trained.items()) keys += key + " ";
  EXPECT_EQ(
      keys,
      "network parameters macs device precision pixels decode decoding remote optimizer recipe "
      "complete batch ranks "
      "steps images seconds images_per_second timed_images timed_seconds rate_unknown "
      "warmup_seconds stall_percent wait_ms_per_step busy bad_seats "
      "cpu_seconds_per_image steps_recorded early_kernels early_kernels_off weight_branch "
      "weight_branch_off engines loss_steps loss loss_bits accuracy accuracy5 curve val_accuracy "
      "val_accuracy5 validations cpu_seconds "
      "peak_rss_mib read_mib core_wait_percent steal_percent psi_cpu_percent psi_io_percent psi_memory_percent cpu_energy_j "
      "planned_memory_mib gpu_memory_mib gpu_own_memory_mib gpu_power_w gpu_energy_j "
      "gpu_utilisation_percent gpu_clock_mhz gpu_throttle upload_count upload_mib "
      "upload_gb_per_s upload_seconds download_count download_mib download_gb_per_s "
      "download_seconds threads workers_seen ");
}

TEST_F(CommandsTrain, one_that_is_whole_already_says_so_and_appends_nothing_to_its_logs) {
  const std::vector<std::string> outputs{"--log", at("log"), "--mllog", at("mllog")};
  std::vector<std::string> line{"train", at("lmdb"), "--network", "lenet", "--batch", "100"};
  line.insert(line.end(), outputs.begin(), outputs.end());
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = line;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  run(with({"--epochs", "1", "--checkpoint", at("whole")}));
  const std::string log = formats::read_text(at("log")), mllog = formats::read_text(at("mllog"));
  const std::string checkpoint = formats::read_text(at("whole"));
  for (const char* length : {"--epochs", "--steps"}) {
    const bool epochs = std::string_view(length) == "--epochs";
    const Said said = feedrate(with({length, epochs ? "1" : "3", "--resume", at("whole"),
                                     "--checkpoint", at("whole"), "--json"}));
    EXPECT_EQ(said.code, exit_done) << said.errors;
    EXPECT_EQ(said.output.find("training loss"), std::string::npos) << said.output;
    EXPECT_NE(said.errors.find("whole stands at step 3 of 3: nothing is left to do"),
              std::string::npos)
        << said.errors;
    EXPECT_EQ(ordered_json::parse(said.output).at("steps"), 0);
  }
  const Said beyond = feedrate(with({"--steps", "2", "--resume", at("whole")}));
  EXPECT_EQ(beyond.code, exit_failed);
  EXPECT_NE(beyond.errors.find("training stands at step 3 already, beyond the 2 asked for"),
            std::string::npos)
      << beyond.errors;
  EXPECT_EQ(formats::read_text(at("log")), log);
  EXPECT_EQ(formats::read_text(at("mllog")), mllog);
  EXPECT_EQ(formats::read_text(at("whole")), checkpoint);
}

// OpenBLAS would ask for memory for ever, where no signal reaches it.
TEST_F(CommandsTrain, in_any_memory_it_ends_by_itself_and_says_why) {
  for (const char* kib : {"150000", "200000", "250000", "300000", "400000", "500000", "600000"}) {
    for (const char* threads : {"1", "4"}) {
      const Said said = testing::run_program(
          "sh", {"-c",
                 std::string("ulimit -v ") + kib +
                     R"( && exec timeout -s KILL 60 "$0" train "$1" --network lenet --steps 2 )" +
                     "--compute-threads " + threads,
                 testing::program_under_test(), at("lmdb")});
      EXPECT_EQ(said.signal, 0) << kib;
      EXPECT_TRUE(said.code == exit_done || said.code == exit_failed || said.code == 127)
          << kib << ": " << said.code << said.errors;
    }
  }
}

TEST_F(CommandsTrain, learns_the_same_from_pixels_and_from_numbers_that_the_loader_made) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--epochs", "2", "--batch", "64", "--val", at("lmdb")},
        {"--steps", "3", "--resident", "--mean", "33.25", "--deviation", "78"},
        {"--mode", "infer", "--deviation", "3"}}) {
    std::vector<std::string> words = options;
    const ordered_json pixels = train(words);
    words.insert(words.end(), {"--pixels", "f32"});
    const ordered_json numbers = train(words);
    EXPECT_EQ(pixels.value("pixels", "u8"), "u8");
    for (const char* key : {"loss", "accuracy", "val_accuracy", "images"}) {
      if (!pixels.contains(key)) continue;
      EXPECT_EQ(numbers.at(key), pixels.at(key)) << options[0] << " " << key;
    }
  }
  const Said halves = feedrate({"train", at("lmdb"), "--network", "lenet", "--pixels", "f16"});
  EXPECT_EQ(halves.code, exit_failed);
  EXPECT_NE(halves.errors.find("takes u8 pixels or f32 numbers"), std::string::npos)
      << halves.errors;
}

TEST_F(CommandsTrain, says_which_recipe_images_came_by) {
  EXPECT_EQ(train({"--steps", "1"}).at("recipe"), "mnist");
  EXPECT_EQ(train({"--steps", "1", "--recipe", "none"}).at("recipe"), "none");
  EXPECT_EQ(train({"--mode", "infer"}).at("recipe"), "mnist");
  const std::string text = run({"train", at("lmdb"), "--network", "alexnet", "--steps", "1",
                                "--batch", "1", "--val", at("few")});
  EXPECT_NE(text.find("recipe imagenet-train, validated by imagenet-eval"), std::string::npos)
      << text;
}

TEST_F(CommandsTrain, says_that_what_random_weights_find_means_nothing) {
  const std::vector<std::string> infer{"train", at("lmdb"), "--network",
                                       "lenet", "--mode",   "infer"};
  EXPECT_NE(feedrate(infer).errors.find("without --resume the weights are random"),
            std::string::npos);
  run({"train", at("lmdb"), "--network", "lenet", "--steps", "1", "--checkpoint", at("weights")});
  std::vector<std::string> trained = infer;
  trained.insert(trained.end(), {"--resume", at("weights")});
  EXPECT_EQ(feedrate(trained).errors.find("random"), std::string::npos);
}

TEST_F(CommandsTrain, what_it_reads_is_not_written_over) {
  const std::uintmax_t before = std::filesystem::file_size(at("lmdb/data.mdb"));
  const Said said = feedrate({"train", at("lmdb"), "--network", "lenet", "--steps", "1",
                              "--checkpoint", at("lmdb/data.mdb")});
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_NE(said.errors.find("would write into"), std::string::npos) << said.errors;
  EXPECT_EQ(std::filesystem::file_size(at("lmdb/data.mdb")), before);
}

/// The images of a dataset in a folder, in its order.
std::vector<std::filesystem::path> images_of(const std::string& folder) {
  std::vector<std::filesystem::path> images;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() == ".png") images.push_back(file.path());
  }
  std::ranges::sort(images);
  return images;
}

TEST_F(CommandsTrain, bad_samples_follow_the_policy) {
  run({"convert", "mnist", at("archives"), "--to", "folder", "--out", at("folder")});
  formats::write_text(images_of(at("folder"))[7], "no PNG");
  const auto with = [&](const std::vector<std::string>& more, const std::string& batch = "50") {
    std::vector<std::string> words{"train",   at("folder"), "--network", "lenet",
                                   "--batch", batch,        "--epochs",  "2"};
    words.insert(words.end(), more.begin(), more.end());
    return feedrate(words);
  };
  EXPECT_EQ(with({}).code, exit_failed);
  for (const auto& [policy, images] : {std::pair("skip", 598), std::pair("replace", 600)}) {
    const Said said = with({"--on-bad", policy, "--json"});
    ASSERT_EQ(said.code, exit_done) << said.errors;
    const ordered_json trained = ordered_json::parse(said.output);
    EXPECT_EQ(trained.at("images"), images);
    EXPECT_EQ(trained.at("steps"), 12);
    EXPECT_EQ(trained.at("bad_seats"), 2);
  }
  EXPECT_NE(with({"--on-bad", "skip"}).output.find("2 seats of bad samples skipped"),
            std::string::npos);
  const Said over = with({"--on-bad", "skip", "--bad-budget", "0"});
  EXPECT_EQ(over.code, exit_failed);
  EXPECT_NE(over.errors.find("1 bad sample, more than the 0"), std::string::npos) << over.errors;
  const Said empty = with({"--on-bad", "skip", "--lr", "0.0001"}, "1");
  EXPECT_EQ(empty.code, exit_failed);
  EXPECT_NE(empty.errors.find(": every image of its batch is bad"), std::string::npos)
      << empty.errors;
  const Said forward = with({"--on-bad", "skip", "--mode", "infer"});
  EXPECT_EQ(forward.code, exit_misused);
  EXPECT_NE(forward.errors.find("--on-bad is for --mode train"), std::string::npos)
      << forward.errors;
}

TEST_F(CommandsTrain, a_shuffle_may_keep_blocks_together) {
  const std::string half = at("half");
  const auto learnt = [&](const std::string& block, const std::string& steps,
                          std::vector<std::string> more = {}) {
    const std::string file = at("after" + steps);
    more.insert(more.end(), {"--batch", "50", "--shuffle-blocks", block, "--steps", steps,
                             "--checkpoint", file});
    train(more);
    const std::string bytes = formats::read_text(file);
    std::filesystem::rename(file, half);
    return bytes;
  };
  const std::string whole = learnt("4", "6", {"--threads", "0"});
  EXPECT_EQ(learnt("4", "6", {"--threads", "2"}), whole);
  EXPECT_NE(learnt("0", "6"), whole);
  learnt("4", "3");
  EXPECT_EQ(learnt("4", "6", {"--resume", half}), whole);
  learnt("4", "3");
  const auto refused = [&](std::vector<std::string> more, int code, std::string_view expected) {
    more.insert(more.begin(), {"train", at("lmdb"), "--network", "lenet"});
    const Said said = feedrate(more);
    EXPECT_EQ(said.code, code);
    EXPECT_NE(said.errors.find(expected), std::string::npos) << said.errors;
  };
  refused({"--batch", "50", "--steps", "6", "--resume", half, "--shuffle-blocks", "5"}, exit_failed,
          "the order of an epoch was every image once, in blocks of 4 when it was trained");
  refused({"--weights", "balanced", "--shuffle-blocks", "4"}, exit_misused,
          "--shuffle-blocks is for the order of one dataset");
  refused({"--mode", "infer", "--shuffle-blocks", "4"}, exit_misused,
          "--shuffle-blocks is for --mode train");
}

TEST_F(CommandsTrain, what_was_learnt_before_an_error_is_saved) {
  run({"convert", "mnist", at("archives"), "--to", "folder", "--out", at("folder")});
  const std::filesystem::path damaged = images_of(at("folder")).back(), kept = at("kept.png");
  std::filesystem::rename(damaged, kept);
  formats::write_text(damaged, "no PNG");
  std::vector<std::string> command = {
      "train", at("folder"), "--network", "lenet",        "--batch",
      "10",    "--epochs",   "1",         "--checkpoint", at("checkpoint")};
  const Said said = feedrate(command);
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_NE(said.errors.find("interrupted after step"), std::string::npos) << said.errors;
  EXPECT_NE(said.errors.find(damaged.filename().string()), std::string::npos) << said.errors;
  std::filesystem::rename(kept, damaged);
  command.insert(command.end(), {"--resume", at("checkpoint")});
  run(command);
}

TEST_F(CommandsTrain, images_of_more_classes_to_validate_with_are_refused_before_training) {
  run({"convert", "mnist", at("archives"), "--to", "folder", "--limit", "1", "--out", at("one")});
  std::filesystem::path image;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(at("one"))) {
    if (entry.path().extension() == ".png") image = entry.path();
  }
  for (int label = 10; label < 22; ++label) {
    const std::filesystem::path folder = at("twelve/c" + std::to_string(label));
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(image, folder / "0.png");
  }
  const Said said = feedrate({"train", at("lmdb"), "--network", "lenet", "--val", at("twelve"),
                              "--checkpoint", at("unmade")});
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_NE(said.errors.find("twelve: has 12 classes, but lenet is trained on 10"),
            std::string::npos)
      << said.errors;
  EXPECT_FALSE(std::filesystem::exists(at("unmade")));
}

TEST_F(CommandsTrain, classes_to_validate_with_that_are_numbered_otherwise_are_refused) {
  run({"convert", "mnist", at("archives"), "--to", "folder", "--limit", "1", "--out", at("one")});
  std::filesystem::path image;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(at("one"))) {
    if (entry.path().extension() == ".png") image = entry.path();
  }
  const auto folder_of = [&](const std::string& name, const std::vector<std::string>& classes) {
    for (const std::string& one : classes) {
      std::filesystem::create_directories(at(name) + "/" + one);
      std::filesystem::copy_file(image, at(name) + "/" + one + "/0.png");
    }
  };
  folder_of("three", {"ant", "bee", "cat"});
  folder_of("first_two", {"ant", "bee"});
  folder_of("last_two", {"bee", "cat"});
  const auto train_with = [&](const std::string& val) {
    return feedrate({"train", at("three"), "--network", "lenet", "--batch", "3", "--steps", "1",
                     "--val", at(val)});
  };
  EXPECT_EQ(train_with("first_two").code, exit_done);
  const Said said = train_with("last_two");
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_NE(said.errors.find("last_two: class 0 is 'bee', but in "), std::string::npos)
      << said.errors;
  EXPECT_NE(said.errors.find("three that is class 1"), std::string::npos) << said.errors;
}

TEST_F(CommandsTrain, warns_of_a_loss_that_runs_away) {
  const Said said =
      feedrate({"train", at("lmdb"), "--network", "lenet", "--lr", "100", "--steps", "2"});
  EXPECT_EQ(said.code, exit_done);
  EXPECT_NE(said.errors.find("warning: step 2: the loss has grown from "), std::string::npos)
      << said.errors;
}

TEST_F(CommandsTrain, reports_the_time_of_workers_and_of_an_image) {
  const ordered_json trained = train({"--steps", "210", "--batch", "16"});
  EXPECT_GT(trained.at("busy").at("read"), 0);
  EXPECT_GT(trained.at("busy").at("decode"), 0);
  EXPECT_EQ(trained.at("busy").at("augment"), 0);  // --recipe none
  // A step waits no longer than the run lasted, and an image costs time on one core at least.
  const double seconds = trained.at("seconds");
  EXPECT_GE(trained.at("wait_ms_per_step"), 0);
  EXPECT_LE(trained.at("wait_ms_per_step").get<double>() * 209 / 1000, seconds + 1e-3);
  EXPECT_GT(trained.at("cpu_seconds_per_image"), 0);
  EXPECT_NEAR(trained.at("wait_ms_per_step").get<double>() * 209 / 10 / seconds,
              trained.at("stall_percent").get<double>(), 0.1);
}

TEST_F(CommandsTrain, gives_the_curve_of_the_loss) {
  const ordered_json curve = train({"--steps", "210", "--batch", "16"}).at("curve");
  ASSERT_EQ(curve.size(), 3U);  // every 100 steps, and the rest
  EXPECT_EQ(curve[0].at("step"), 100);
  EXPECT_EQ(curve[2].at("step"), 210);
  EXPECT_EQ(curve[2].at("epoch"), 11);  // 19 batches each
  EXPECT_LT(curve[2].at("loss"), curve[0].at("loss"));
  EXPECT_GT(curve[2].at("accuracy"), curve[0].at("accuracy"));
  EXPECT_GT(curve[1].at("images_per_second"), 0);
}

TEST_F(CommandsTrain, what_has_no_meaning_is_null) {
  const ordered_json resident = train({"--resident", "--steps", "3"});
  EXPECT_TRUE(resident.at("busy").is_null());
  EXPECT_TRUE(resident.at("workers_seen").is_null());
  EXPECT_TRUE(resident.at("cpu_seconds_per_image").is_number());

  const ordered_json one = train({"--steps", "1"});
  for (const char* key : {"images_per_second", "wait_ms_per_step", "cpu_seconds_per_image"}) {
    EXPECT_TRUE(one.at(key).is_null()) << key;
  }
  ASSERT_EQ(one.at("curve").size(), 1U);
  EXPECT_TRUE(one.at("curve")[0].at("images_per_second").is_null());
}

TEST_F(CommandsTrain, without_uploads_a_batch_that_the_device_holds_is_trained_on_again) {
  const ordered_json again = train({"--resident", "--no-upload", "--steps", "21"});
  EXPECT_EQ(again.at("steps"), 21);
  const ordered_json each = train({"--resident", "--steps", "21"});
  EXPECT_EQ(again.at("images"), 21 * again.at("batch").get<int>());
  EXPECT_LT(again.at("loss"), each.at("loss")) << "fewer images are learned sooner";
}

TEST_F(CommandsTrain, validation_during_training_is_not_timed) {
  const ordered_json trained =
      train({"--val", at("lmdb"), "--val-every", "1", "--epochs", "3", "--batch", "150"});
  EXPECT_EQ(trained.at("validations").size(), 3U);
  EXPECT_EQ(trained.at("steps"), 6);
  EXPECT_GT(trained.at("cpu_seconds_per_image"), 0);
}

TEST_F(CommandsTrain, every_mode_and_load_report_the_cost_of_the_timed_part) {
  const testing::FakePowercap powercap;
  powercap.counter("intel-rapl:0", "package-0", 1000);
  const ordered_json found[] = {
      train({"--seconds", "0.3"}), train({"--resident", "--steps", "9"}),
      train({"--mode", "infer", "--epochs", "2"}),
      ordered_json::parse(run({"load", at("lmdb"), "--seconds", "0.3", "--json"}))};
  for (const ordered_json& one : found) {
    EXPECT_GT(one.at("cpu_seconds"), 0);
    EXPECT_GT(one.at("peak_rss_mib"), 1);
    EXPECT_EQ(one.at("cpu_energy_j"), 0.0);  // the counter is read but does not change
  }
  EXPECT_GT(found[0].at("planned_memory_mib"), 5);  // 431,080 parameters, gradients, momenta
  EXPECT_LT(found[2].at("planned_memory_mib"), found[0].at("planned_memory_mib"));
  EXPECT_TRUE(found[0].at("gpu_energy_j").is_null());
  EXPECT_TRUE(found[0].at("upload_count").is_null());
}

}  // namespace
}  // namespace feedrate::tools
