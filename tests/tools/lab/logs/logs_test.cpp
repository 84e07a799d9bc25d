// The logs, read back as the tools that they are for read them.

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "formats/containers/tfrecord/tf_record.h"
#include "formats/containers/wire.h"
#include "formats/io/mapped_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_program.h"
#include "tests/tools/logged_run.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::lenet;
using testing::objects_of;
using testing::progress;
using testing::TempDirectory;
using testing::train;

std::vector<nlohmann::json> lines_of(const fs::path& file) {
  const std::vector<nlohmann::json> lines = objects_of(file, ":::MLLOG ");
  for (const auto& line : lines) {
    for (const char* key : {"namespace", "time_ms", "event_type", "key", "value", "metadata"}) {
      EXPECT_TRUE(line.contains(key)) << line;
    }
    EXPECT_TRUE(line.at("metadata").contains("file")) << line;
    EXPECT_TRUE(line.at("metadata").contains("lineno")) << line;
  }
  return lines;
}

std::string keys_of(const std::vector<nlohmann::json>& lines) {
  std::string keys;
  for (const auto& line : lines) keys += line.at("key").get<std::string>() + " ";
  return keys;
}

const nlohmann::json& line_of(const std::vector<nlohmann::json>& lines, const std::string& key) {
  for (const auto& line : lines) {
    if (line.at("key") == key) return line;
  }
  throw std::runtime_error("no line " + key);
}

TEST(UnitMlLog, describes_a_run_in_the_order_that_mlperf_checks) {
  const TempDirectory directory;
  Logs logs({{"mllog", directory / "run.log"}});
  train(logs);
  const auto lines = lines_of(directory / "run.log");
  EXPECT_EQ(keys_of(lines),
            "init_start submission_benchmark cache_clear seed global_batch_size train_samples "
            "eval_samples "
            "opt_name opt_base_learning_rate opt_momentum opt_weight_decay "
            "opt_learning_rate_warmup_epochs init_stop run_start "
            "epoch_start train_loss epoch_stop tracked_stats eval_start eval_accuracy eval_stop "
            "epoch_start train_loss epoch_stop tracked_stats eval_start eval_accuracy eval_stop "
            "run_stop ");
  EXPECT_EQ(line_of(lines, "global_batch_size").at("value"), 64);
  EXPECT_EQ(line_of(lines, "seed").at("value"), 7);
  EXPECT_EQ(line_of(lines, "epoch_start").at("metadata").at("epoch_num"), 1);
  EXPECT_EQ(line_of(lines, "epoch_start").at("event_type"), "INTERVAL_START");
  EXPECT_EQ(line_of(lines, "eval_accuracy").at("value"), 0.875);
  EXPECT_EQ(line_of(lines, "eval_accuracy").at("metadata").at("epoch_num"), 2);
  EXPECT_GT(line_of(lines, "tracked_stats").at("value").at("throughput"), 0);
  EXPECT_EQ(lines.back().at("event_type"), "INTERVAL_END");
  EXPECT_EQ(lines.back().at("metadata").at("status"), "success");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_LE(lines[i - 1].at("time_ms"), lines[i].at("time_ms"));
  }
}

TEST(UnitMlLog, a_run_that_fails_is_aborted_and_one_that_never_began_has_no_end) {
  const TempDirectory directory;
  {
    Logs logs({{"mllog", directory / "run.log"}});
    logs.begin(lenet, 2);
    logs.step_begins(0, 64);
  }
  EXPECT_EQ(lines_of(directory / "run.log").back().at("metadata").at("status"), "aborted");
  { Logs logs({{"mllog", directory / "run.log"}}); }
  EXPECT_EQ(keys_of(lines_of(directory / "run.log")), "init_start ");
}

TEST(UnitLogs, an_epoch_begins_in_the_middle_where_training_was_resumed_there) {
  const TempDirectory directory;
  Logs logs({{"mllog", directory / "run.log"}});
  logs.begin(lenet, 10);
  for (std::uint64_t step = 15; step < 25; ++step) logs.step_begins(step, 64);
  logs.end();
  std::string epochs;
  for (const auto& line : lines_of(directory / "run.log")) {
    const std::string key = line.at("key");
    if (key == "epoch_start") epochs += "(" + line.at("metadata").at("epoch_num").dump();
    if (key == "epoch_stop") epochs += line.at("metadata").at("epoch_num").dump() + ")";
  }
  EXPECT_EQ(epochs, "(22)(33)");
}

/// step → tag → value, and the version of the file.
struct Events {
  std::uint64_t session = 0;  // the step at which one starts
  std::string version;
  std::map<std::uint64_t, std::map<std::string, float>> scalars;
};

void read_value(WireReader value, std::map<std::string, float>& scalars) {
  std::string tag;
  while (!value.done()) {
    switch (value.read_key()) {
      case wire_key(1, Wire::delimited):
        tag = as_text(value.read_delimited());
        break;
      case wire_key(2, Wire::fixed32):
        scalars[tag] = value.read_fixed<float>();
        break;
      default:
        ADD_FAILURE() << "an unknown field of a value";
    }
  }
}

Events read_events(const fs::path& directory) {
  const MappedFile file(fs::directory_iterator(directory)->path());
  EXPECT_NE(file.path().filename().string().find("tfevents"), std::string::npos);
  Events events;
  const Bytes bytes = file.bytes();
  for (std::uint64_t at = 0; at < bytes.size();
       at = tf_record_end(bytes.subspan(at), at, bytes.size())) {
    WireReader event(read_tf_record(bytes, at), "no event");
    std::uint64_t step = 0;
    while (!event.done()) {
      switch (event.read_key()) {
        case wire_key(1, Wire::fixed64):
          EXPECT_GT(event.read_fixed<double>(), 1.7e9);
          break;
        case wire_key(2, Wire::varint):
          step = event.read_varint();
          break;
        case wire_key(3, Wire::delimited):
          events.version = as_text(event.read_delimited());
          break;
        case wire_key(5, Wire::delimited): {
          WireReader summary = event.read_message();
          while (!summary.done()) {
            EXPECT_EQ(summary.read_key(), wire_key(1, Wire::delimited));
            read_value(summary.read_message(), events.scalars[step]);
          }
          break;
        }
        case wire_key(7, Wire::delimited): {
          WireReader session = event.read_message();
          EXPECT_EQ(session.read_key(), wire_key(1, Wire::varint));
          EXPECT_EQ(session.read_varint(), 1U);
          events.session = step;
          break;
        }
        default:
          ADD_FAILURE() << "an unknown field of an event";
          return events;
      }
    }
  }
  return events;
}

TEST(UnitTensorBoard, writes_records_of_events_with_scalars) {
  const TempDirectory directory;
  Logs logs({{"tensorboard", directory / "new/directory"}});
  train(logs);
  const Events events = read_events(directory / "new/directory");
  EXPECT_EQ(events.version, "brain.Event:2");
  ASSERT_EQ(events.scalars.size(), 2U);
  EXPECT_EQ(events.scalars.at(4), (std::map<std::string, float>{{"train/loss", 2.5F},
                                                                {"train/top-1", 0.5F},
                                                                {"train/top-5", 0.75F},
                                                                {"train/images_per_second", 1000},
                                                                {"train/stall_percent", 12.5F},
                                                                {"train/learning_rate", 0.25F},
                                                                {"validation/loss", 0.5F},
                                                                {"validation/top-1", 0.875F},
                                                                {"validation/top-5", 1}}));
}

TEST(UnitTensorBoard, a_resumed_run_starts_a_session_behind_the_step_of_the_checkpoint) {
  const TempDirectory directory;
  Logs({{"tensorboard", directory.path()}}, EarlierLines::keep).resume(100, "a.st");
  EXPECT_EQ(read_events(directory.path()).session, 101U);
}

TEST(UnitTensorBoard, events_can_be_read_while_training_runs) {
  const TempDirectory directory;
  Logs logs({{"tensorboard", directory.path()}});
  logs.begin(lenet, 2);
  logs.progress(progress(100, 1.5));
  EXPECT_EQ(read_events(directory.path()).scalars.at(100).at("train/loss"), 1.5F);
}

TEST(UnitJsonLog, has_every_event_with_its_keys) {
  const TempDirectory directory;
  {
    Logs logs({{"log", directory / "run.jsonl"}});
    train(logs);
  }
  const auto events = objects_of(directory / "run.jsonl");
  std::string types;
  for (const auto& event : events) {
    types += event.at("event").get<std::string>() + " ";
    EXPECT_GT(event.at("time"), 1.7e9);
  }
  const std::string epoch = "epoch_start progress epoch_end validation_start validation ";
  EXPECT_EQ(types, "init start " + epoch + epoch + "end ");
  nlohmann::json start = events.at(1), progress = events.at(3), validation = events.at(6);
  for (nlohmann::json* event : {&start, &progress, &validation}) event->erase("time");
  EXPECT_EQ(start, nlohmann::json::parse(R"({"event": "start", "run": "train",
      "dataset": "data/\"odd\"\\name\n", "network": "lenet", "device": "cpu", "precision": "fp32",
      "optimizer": "sgd", "batch": 64, "seed": 7, "images": 600, "learning_rate": 0.01,
      "momentum": 0.9, "decay": 0.0005, "warmup_epochs": 0, "validation_images": 100,
      "cold": true})"));
  EXPECT_EQ(progress, nlohmann::json::parse(R"({"event": "progress", "step": 2, "epoch": 1,
      "loss": 2.5, "accuracy": 0.5, "accuracy5": 0.75, "images_per_second": 1000,
      "stall_percent": 12.5, "learning_rate": 0.25})"));
  EXPECT_EQ(validation, nlohmann::json::parse(R"({"event": "validation", "step": 2, "epoch": 2,
      "images": 100, "loss": 0.5, "accuracy": 0.875, "accuracy5": 1, "seconds": 1})"));
  EXPECT_EQ(events.at(4).at("epoch"), 0);
  EXPECT_GT(events.at(4).at("images_per_second"), 0);
  EXPECT_EQ(events.back().at("status"), "success");
}

TEST(UnitJsonLog, infinite_numbers_are_null_and_a_run_that_fails_is_aborted) {
  const TempDirectory directory;
  {
    Logs logs({{"log", directory / "run.jsonl"}});
    logs.begin(lenet, 2);
    logs.progress(progress(100, std::numeric_limits<double>::quiet_NaN()));
  }
  const auto events = objects_of(directory / "run.jsonl");
  EXPECT_TRUE(events.at(2).at("loss").is_null());
  EXPECT_EQ(events.back().at("status"), "aborted");
}

TEST(HostileLogs, a_log_that_cannot_be_written_is_refused_before_training) {
  const TempDirectory directory;
  std::ofstream(directory / "file") << "x";
  for (const LogKind& kind : log_kinds) {
    SCOPED_TRACE(kind.name);
    expect_error([&] { Logs({{kind.name, directory / "file/below"}}); }, {"file"});
    EXPECT_FALSE(kind.summary.empty());
  }
}

TEST(HostileLogs, a_full_disk_is_an_error) {
  expect_error([] { Logs({{"log", fs::path("/dev/full")}}); }, {"/dev/full", "No space left"});
  expect_error([] { Logs({{"mllog", fs::path("/dev/full")}}); }, {"/dev/full", "No space left"});
}

TEST(CommandsLogs, a_training_writes_every_log_that_it_is_asked_for) {
  const TempDirectory directory;
  const auto at = [&](const std::string& name) { return (directory / name).string(); };
  ASSERT_EQ(testing::feedrate({"synth", "mnist", "--images", "200", "--out", at("a")}).code, 0);
  ASSERT_EQ(
      testing::feedrate({"convert", "mnist", at("a"), "--to", "lmdb", "--out", at("lmdb")}).code,
      0);
  const std::vector<std::string> wanted{"train",   at("lmdb"),    "--network", "lenet",
                                        "--mllog", at("run.log"), "--metrics", at("m.prom"),
                                        "--batch", "50"};
  auto train = [&](std::vector<std::string> more) {
    more.insert(more.begin(), wanted.begin(), wanted.end());
    return testing::feedrate(more);
  };
  ASSERT_EQ(testing::feedrate(
                {"load", at("lmdb"), "--metrics", at("load.prom"), "--log", at("load.jsonl")})
                .code,
            0);
  EXPECT_NE(testing::slurp(at("load.prom")).find("\nfeedrate_load_images_total{"),
            std::string::npos);
  const auto loaded = objects_of(at("load.jsonl"));
  EXPECT_EQ(loaded.at(loaded.size() - 2).at("images"), 200);
  EXPECT_EQ(loaded.back().at("status"), "success");
  ASSERT_EQ(train({"--tensorboard", at("tb"), "--epochs", "2", "--val", at("lmdb"), "--log",
                   at("run.jsonl")})
                .code,
            0);
  EXPECT_EQ(objects_of(at("run.jsonl")).at(1).at("network"), "lenet");
  const auto lines = lines_of(at("run.log"));
  EXPECT_EQ(line_of(lines, "train_samples").at("value"), 200);
  EXPECT_EQ(line_of(lines, "eval_samples").at("value"), 200);
  EXPECT_EQ(lines.back().at("metadata").at("status"), "success");
  EXPECT_GT(read_events(at("tb")).scalars.at(8).at("validation/top-1"), 0);
  EXPECT_NE(testing::slurp(at("m.prom")).find("\nfeedrate_train_steps_total{"), std::string::npos);

  EXPECT_EQ(train({"--lr", "1e30", "--seconds", "60"}).code, 1);
  EXPECT_EQ(lines_of(at("run.log")).back().at("metadata").at("status"), "aborted");

  const auto aborted = lines_of(at("run.log"));
  const auto first = objects_of(at("run.jsonl"));
  ASSERT_EQ(train({"--steps", "3", "--checkpoint", at("three.st")}).code, 0);
  const auto three = lines_of(at("run.log"));
  EXPECT_NE(three, aborted);
  ASSERT_EQ(train({"--resume", at("three.st"), "--log", at("run.jsonl")}).code, 0);
  const auto gone_on = lines_of(at("run.log"));
  EXPECT_TRUE(std::equal(three.begin(), three.end(), gone_on.begin()));
  EXPECT_EQ(line_of(gone_on, "init_checkpoint_step").at("value"), 3);
  EXPECT_EQ(gone_on.back().at("metadata").at("status"), "success");
  EXPECT_EQ(objects_of(at("run.jsonl")).at(first.size() + 1).at("event"), "resume");

  const testing::Said inferring = train({"--mode", "infer"});
  EXPECT_EQ(inferring.code, 2);
  EXPECT_NE(inferring.errors.find(" is for --mode train, not --mode infer"), std::string::npos);
}

}  // namespace
}  // namespace feedrate::tools
